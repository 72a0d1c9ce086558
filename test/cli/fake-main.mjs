// A process like dist/app/main.js over the fake installation, for tests of pipes and signals. Its mode is in ERRATA_TEST_MODE.
import { processTerminal } from '../../dist/cli/process-terminal.js';
import { runCli } from '../../dist/cli/run-cli.js';
import { exportedLines, fakeDeps, untilAborted } from './fake-deps.mjs';

const modes = {
  endless: { exportNotes: () => exportedLines(Number.POSITIVE_INFINITY) },
  stuck: {
    retrieve: (_caller, _request, { signal }) => {
      process.stderr.write('retrieving\n');
      return untilAborted(signal);
    },
    close: () => process.stderr.write('closed\n'),
  },
};

const { deps } = fakeDeps(modes[process.env.ERRATA_TEST_MODE] ?? {});
process.exitCode = await runCli(process.argv.slice(2), deps, processTerminal());
