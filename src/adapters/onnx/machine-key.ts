import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus } from 'node:os';

/** Raised when what is kept under the key changes its meaning. */
const FORMAT = 1;

/** 16 hex digits over what measurements and optimised graphs hang on beside the model: runtime, processor, cores. */
export function machineKey(): string {
  const parts = [
    FORMAT,
    runtimeVersion(),
    process.platform,
    process.arch,
    cpus()[0]?.model,
    availableParallelism(),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

function runtimeVersion(): string {
  const file = createRequire(import.meta.url).resolve('onnxruntime-node/package.json');
  return String(JSON.parse(readFileSync(file, 'utf8')).version);
}
