// A dashboard: follows the changes of a namespace over WebSocket until Ctrl-C.
// ERRATA_KEY=… node examples/watch-notes.mjs example
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';

const url = new URL('/graphql', process.env.ERRATA_URL ?? 'http://127.0.0.1:4000');
url.protocol = url.protocol.replace('http', 'ws');

const client = createClient({
  url: url.href,
  webSocketImpl: WebSocket,
  connectionParams: { authorization: `Bearer ${process.env.ERRATA_KEY}` },
});
process.once('SIGINT', () => client.dispose());

const changes = client.iterate({
  query:
    'subscription ($namespace: String!) { noteChanged(namespace: $namespace) { id status version lesson } }',
  variables: { namespace: process.argv[2] ?? 'example' },
});
for await (const { data, errors } of changes) {
  if (errors?.length > 0) throw new Error(errors[0].message);
  const { status, version, lesson } = data.noteChanged;
  console.log(`${status} v${version}: ${lesson}`);
}
