// `npm start`: sets up what is missing, then serves. Options go to `errata serve`: npm start -- --port 4001
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { mainFile, SetUpError, setUp } from './set-up.mjs';
import { root } from './stamps.mjs';

const shortHelp = `Usage: npm start -- [options]

Installs, builds, fetches the embedding model and serves GraphQL on http://127.0.0.1:4000/graphql.
Needs Node.js 20.19 or newer, a C++17 compiler, CMake 3.20 or newer and the npm registry.

  --port <n>            port to listen on              (ERRATA_PORT, default 4000)
  --host <address>      address to listen on           (ERRATA_HOST, default 127.0.0.1)
  --data <folder>       folder of the SQLite store     (ERRATA_DATA, default ./data)
  --mongodb-uri <uri>   use MongoDB instead            (MONGODB_URI)
  --admin-key <key>     the first admin key            (ERRATA_ADMIN_KEY, made and shown once)
  --sample <true|false> load the sample at first start (ERRATA_SAMPLE, default true)

After the first start, npm start -- --help lists every option.`;

const args = process.argv.slice(2);
const wantsHelp = args.includes('--help') || args.includes('-h');

async function start() {
  const isSetUp = existsSync(mainFile) && existsSync(path.join(root, 'node_modules', 'commander'));
  if (wantsHelp && !isSetUp) {
    console.log(shortHelp);
    return;
  }
  if (!wantsHelp) await setUp({ model: 'required', args });
  // The server runs in this process: signals reach it directly, and no second Node has to start.
  // npm's shell does not pass signals on: where npm was killed, end as if the signal had come here.
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM');
  }, 500).unref();
  process.argv = [process.execPath, mainFile, 'serve', ...args];
  await import(pathToFileURL(mainFile).href);
}

start().catch((error) => {
  console.error(error instanceof SetUpError ? `npm start: ${error.message}` : error);
  process.exitCode = 1;
});
