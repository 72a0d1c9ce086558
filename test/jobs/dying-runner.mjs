// Runs jobs until the one named has ended, and is killed by its own handler as the job's option `mode` says.
// Arguments: folder of the compiled sources, module and function that open a store, the function's options as JSON, job id.
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const [sources, module, name, options, id] = process.argv.slice(2);
const load = (file) => import(path.join(sources, file));
const [{ JobRunner }, { systemClock }, { JOB_KINDS }] = await Promise.all([
  load('jobs/job-runner.js'),
  load('ports/clock.js'),
  load('domain/job.js'),
]);
const store = await (await load(module))[name](JSON.parse(options));
const quiet = () => undefined;

const handler = async ({ job, checkpoint }) => {
  const step = Number(job.cursor ?? 0);
  if (step >= 5) return `did ${step} steps`;
  if (job.options.mode === 'progress') await checkpoint({ cursor: String(step + 1), done: step + 1 });
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
};
const runner = new JobRunner({
  jobs: store.jobs,
  clock: systemClock,
  logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  leaseMs: 150,
  handlers: Object.fromEntries(JOB_KINDS.map((kind) => [kind, handler])),
});
while ((await store.jobs.get(id)).finishedAt === undefined) {
  runner.ring();
  await pause(20);
}
await runner.close();
await store.close();
