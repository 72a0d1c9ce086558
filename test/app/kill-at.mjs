// Preloaded into a server process (NODE_OPTIONS=--import=…): kills it with SIGKILL at a chosen write to the store, so that a test need not
// hope to hit the moment. ERRATA_TEST_KILL names a file that says where, as JSON, and that may come and go while the process runs:
//   pid    the process that it is for; absent: any
//   job    kind of a job: counting begins when the process takes one for the first time (fence 1)
//   write  kill before this write of the driver (1: the first)
//   commit kill behind this commit instead, before anybody hears of it (SQLite)
//   setting kill behind the writing of this setting
//   end    kill when the job's end is about to be written
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const orderFile = process.env.ERRATA_TEST_KILL;
let order = {};
let read = '';
let writes = 0;
let commits = 0;
/** Id of the job that this process runs and that the order is about. */
let held;

function readOrder() {
  let text = '{}';
  try {
    text = readFileSync(orderFile, 'utf8');
  } catch {
    // None at present.
  }
  if (text !== read) {
    read = text;
    order = JSON.parse(text);
    writes = 0;
    commits = 0;
    held = undefined;
  }
  return order.pid === undefined || order.pid === process.pid;
}

const counts = () => readOrder() && (order.job === undefined || held !== undefined);
const die = () => process.kill(process.pid, 'SIGKILL');

function beforeWrite() {
  if (!counts()) return;
  writes += 1;
  if (writes === order.write) die();
}

function afterCommit() {
  if (!counts()) return;
  commits += 1;
  if (commits === order.commit) die();
}

async function watchSqlite() {
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(':memory:');
  const statement = Object.getPrototypeOf(db.prepare('SELECT 1'));
  db.close();
  const { run } = statement;
  let written = false;
  statement.run = function (...parameters) {
    const isCommit = this.source === 'COMMIT';
    const isWrite = /^\s*(INSERT|UPDATE|DELETE|REPLACE)/i.test(this.source);
    // A transaction without writes ends with COMMIT, too.
    if (isWrite || (isCommit && written)) beforeWrite();
    const result = run.apply(this, parameters);
    if (isCommit && written) afterCommit();
    written = isWrite || (written && !isCommit);
    return result;
  };
}

async function watchMongo() {
  const { Collection } = await import('mongodb');
  const writing = [
    'insertOne',
    'insertMany',
    'updateOne',
    'updateMany',
    'replaceOne',
    'deleteOne',
    'deleteMany',
    'bulkWrite',
  ];
  for (const name of writing) {
    const method = Collection.prototype[name];
    Collection.prototype[name] = function (...parameters) {
      beforeWrite();
      return method.apply(this, parameters);
    };
  }
}

function watchJobs(JobStore) {
  const { take, update } = JobStore.prototype;
  JobStore.prototype.take = async function (...parameters) {
    const job = await take.apply(this, parameters);
    if (job !== undefined && readOrder() && job.kind === order.job && job.fence === 1) held = job.id;
    return job;
  };
  JobStore.prototype.update = function (id, fence, patch) {
    if (readOrder() && order.end === true && id === held && patch.state !== undefined) die();
    return update.call(this, id, fence, patch);
  };
}

function watchSettings(SettingStore) {
  const { put } = SettingStore.prototype;
  SettingStore.prototype.put = async function (name, json) {
    await put.call(this, name, json);
    if (counts() && order.setting === name) die();
  };
}

if (isMainThread && orderFile !== undefined) {
  if (process.env.MONGODB_URI === undefined) {
    await watchSqlite();
    watchJobs((await import('../../dist/adapters/sqlite/sqlite-job-store.js')).SqliteJobStore);
    watchSettings((await import('../../dist/adapters/sqlite/sqlite-setting-store.js')).SqliteSettingStore);
  } else {
    await watchMongo();
    watchJobs((await import('../../dist/adapters/mongo/mongo-job-store.js')).MongoJobStore);
    watchSettings((await import('../../dist/adapters/mongo/mongo-setting-store.js')).MongoSettingStore);
  }
}
