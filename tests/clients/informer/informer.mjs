// An informer of @kubernetes/client-node against `lastout up`: informer.mjs KUBECONFIG COUNT. It follows so many
// ConfigMaps through creation, connections that are cut on the way, and deletion, and must miss none.
import { Buffer } from 'node:buffer';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import process from 'node:process';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';

const count = Number(process.argv[3]);
const atOnce = 16;
const namespace = 'default';

// A proxy whose connections can be cut: the informer alone goes through it.
function openProxy(target) {
  const ends = new Set();
  const server = net.createServer((near) => {
    const far = net.connect(Number(target.port), target.hostname);
    for (const [from, to] of [[near, far], [far, near]]) {
      ends.add(from);
      from.on('error', () => {});
      from.on('close', () => {
        ends.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  });
  const cut = () => {
    const number = ends.size / 2;
    for (const end of ends) end.destroy();
    return number;
  };
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({ port: server.address().port, cut }));
  });
}

async function forEachNumber(action) {
  let next = 0;
  const worker = async () => {
    while (next < count) await action(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const config = new KubeConfig();
config.loadFromFile(process.argv[2]);
const server = new URL(config.getCurrentCluster().server);
const proxy = await openProxy(server);
config.clusters = config.clusters.map((cluster) => ({ ...cluster, server: `${server.protocol}//127.0.0.1:${proxy.port}` }));

const path = `/api/v1/namespaces/${namespace}/configmaps`;
const api = config.makeApiClient(CoreV1Api);
const informer = makeInformer(config, path, () => api.listNamespacedConfigMap({ namespace }));

// Not with the library, which opens a connection for each request.
const decoded = (text) => Buffer.from(text, 'base64');
const client = server.protocol === 'https:' ? https : http;
const agent = new client.Agent({
  keepAlive: true,
  maxSockets: atOnce,
  ca: decoded(config.getCurrentCluster().caData ?? ''),
  cert: decoded(config.getCurrentUser().certData ?? ''),
  key: decoded(config.getCurrentUser().keyData ?? ''),
});
function send(method, url, body) {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const request = client.request(new URL(url, server), { method, agent, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => (answer.statusCode < 300 ? resolve() : reject(new Error(`${answer.statusCode}`))));
    });
    request.on('error', reject);
    request.end(text);
  });
}

const known = new Set();
const added = new Set();
const deleted = new Set();
let check = () => {};
const isOurs = (metadata) => metadata.name.startsWith('object-'); // every namespace has kube-root-ca.crt
informer.on('add', ({ metadata }) => {
  if (!isOurs(metadata)) return;
  known.add(metadata.name);
  added.add(metadata.name);
  check();
});
informer.on('delete', ({ metadata }) => {
  if (!isOurs(metadata)) return;
  known.delete(metadata.name);
  deleted.add(metadata.name);
  check();
});
informer.on('error', () => setImmediate(() => informer.start()));

// Resolves once the informer knows so many; says what it has when that takes too long.
const knows = (number) =>
  new Promise((resolve, reject) => {
    const told = () => `knows ${known.size}, was told ${added.size} added and ${deleted.size} deleted`;
    const late = setTimeout(() => reject(new Error(`not ${number}: ${told()}`)), 120_000);
    check = () => {
      if (known.size !== number) return;
      clearTimeout(late);
      check = () => {};
      resolve();
    };
    check();
  });

await informer.start();
let cuts = 0;
await forEachNumber(async (number) => {
  if (number === count / 2) cuts += proxy.cut();
  const metadata = { name: `object-${number}` };
  await send('POST', path, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
});
await knows(count);
await forEachNumber(async (number) => {
  if (number === count / 2) cuts += proxy.cut();
  await send('DELETE', `${path}/object-${number}`, {});
});
await knows(0);
if (added.size !== count || deleted.size !== count)
  throw new Error(`told ${added.size} added and ${deleted.size} deleted of ${count}`);
if (cuts < 2) throw new Error(`${cuts} connections were cut`);
process.exit(0);
