// What an installation holds in memory, by part: by the parts' own counts where they have one, else by what the process grew.
import { memoryParts } from '../../dist/app/memory-parts.js';
import { figure, residentMiB } from '../harness/measure.mjs';

const MIB = 2 ** 20;

/** Other names than the metrics' where they would not say enough. */
const NAMES = {
  vectors: 'index: vectors',
  codes: 'index: codes',
  graphs: 'index: graphs',
  filters: 'index: bitmaps of filters',
  bookkeeping: 'index: bookkeeping',
  'query cache': 'query cache: vectors and token vectors',
};

/**
 * `memory` is MiB resident after each step of opening (see `openInstallation`). Node, driver and models are what the process grew by when
 * they were opened; the models' part is runtime, sessions and tokenizer, which cannot be told apart from outside. `rest` is what the
 * process holds beyond all: JavaScript objects of the indexes' directories, buffers, what the allocator keeps.
 */
export function memoryMetrics(memory, { store, engines }) {
  const mib = (name, value) => figure(`memory: ${name}`, 'MiB', 'lower', Math.max(0, value));
  const counted = Object.entries(memoryParts(store, engines)).map(([part, bytes]) => [
    NAMES[part] ?? part,
    bytes / MIB,
  ]);
  const now = residentMiB();
  const known = memory.models + counted.reduce((sum, [, value]) => sum + value, 0);
  return [
    mib('Node and store driver', memory.start),
    mib('models: runtime, sessions, tokenizer', memory.models - memory.start),
    ...counted.map(([name, value]) => mib(name, value)),
    mib('rest', now - known),
    mib('process, resident after the run', now),
  ];
}
