{{/* The text of a file of the chart, given as (list . "path"): with protectsItself each of its objects has one label more. */}}
{{- define "objects" -}}
{{- $root := index . 0 -}}
{{- $text := $root.Files.Get (index . 1) -}}
{{- if $root.Values.protectsItself -}}
{{- $text = $text | replace "\n  labels:\n" "\n  labels:\n    orkestra.io/deletion-protection: \"true\"\n" -}}
{{- end -}}
{{ $text }}
{{- end -}}
