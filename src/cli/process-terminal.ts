import { readEnvironment } from '../config/environment.js';
import type { Terminal } from './terminal.js';

/** The terminal of this process. */
export function processTerminal(): Terminal {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: readEnvironment(),
    cwd: process.cwd(),
    onInterrupt(listener) {
      const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
      for (const signal of signals) process.on(signal, listener);
      return () => {
        for (const signal of signals) process.off(signal, listener);
      };
    },
    exit: (code) => process.exit(code),
  };
}
