#!/usr/bin/env python3
"""bench/relay.py PORT: passes on to 127.0.0.1:PORT, by plain HTTP, what it is sent over TLS, and counts the requests.

bench/serve_load.cc puts it between `lastout serve` and `lastout up`. It prints the address that it listens on; at
/counts it answers how many watches and how many other requests it has passed on, as JSON.
"""
import asyncio
import json
import re
import ssl
import subprocess
import sys
import tempfile

REQUEST = re.compile(rb"(?:GET|POST|PUT|PATCH|DELETE) (\S+) HTTP/1\.1\r\n")
LONGEST_LINE = 4096
counts = {"watches": 0, "others": 0}


async def pass_on(reader, writer, data=b"", is_asked=False):
    unread = b""
    while data := data or await reader.read(1 << 16):
        if is_asked:
            unread += data
            end = 0
            for request in REQUEST.finditer(unread):
                counts["watches" if b"watch=" in request[1] else "others"] += 1
                end = request.end()
            unread = unread[max(end, len(unread) - LONGEST_LINE):]
        writer.write(data)
        await writer.drain()
        data = b""
    writer.close()


async def connect(reader, writer):
    head = await reader.readuntil(b"\r\n\r\n")
    if head.startswith(b"GET /counts "):
        body = json.dumps(counts).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                     % (len(body), body))
        await writer.drain()
        writer.close()
        return
    from_server, to_server = await asyncio.open_connection("127.0.0.1", int(sys.argv[1]))
    await asyncio.gather(pass_on(reader, to_server, head, is_asked=True), pass_on(from_server, writer),
                         return_exceptions=True)


def identity():
    """Returns a certificate that nobody knows, and its key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile() as key, tempfile.NamedTemporaryFile() as certificate:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "1", "-subj", "/CN=relay", "-keyout", key.name, "-out", certificate.name],
                       check=True, capture_output=True)
        context.load_cert_chain(certificate.name, key.name)
    return context


async def main():
    server = await asyncio.start_server(connect, "127.0.0.1", 0, backlog=512, ssl=identity())
    print("listens at https://127.0.0.1:%d" % server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
