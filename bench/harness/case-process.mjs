// One case of one suite in a process of its own: `case-process.mjs SUITE CASE [--quick]`; sends its result over IPC.
import { usedVersions } from '../index/install-rivals.mjs';
import { loadSuites } from './suites.mjs';

const [suiteName, caseName] = process.argv.slice(2);
const quick = process.argv.includes('--quick');
const suite = (await loadSuites()).find(({ name }) => name === suiteName);
const parameters = suite?.cases({ quick }).find(({ name }) => name === caseName);
if (parameters === undefined)
  throw new Error(`Expected a case of a suite, received ${suiteName} ${caseName}`);
const log = (text) => console.error(`${suiteName}/${caseName}: ${text}`);
const result = await suite.run(parameters, { quick, log });
const versions = usedVersions();
process.send(Object.keys(versions).length === 0 ? result : { ...result, versions }, () =>
  process.disconnect(),
);
