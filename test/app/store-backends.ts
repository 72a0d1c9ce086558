import { STORE_BACKENDS, type StoreBackend, titleOf } from '../doubles/store-backends.js';
import { isBuilt } from './dist-process.js';

export type { OpenBackend } from '../doubles/store-backends.js';

const unbuilt = isBuilt ? undefined : 'dist is not built (npm test builds it)';

/** Both stores, for tests that run the built server as processes. */
export const BACKENDS: readonly (StoreBackend & { readonly title: string })[] = STORE_BACKENDS.map(
  (backend) => {
    const skip = unbuilt ?? backend.skip;
    return { ...backend, skip, title: titleOf({ name: backend.name, skip }) };
  },
);
