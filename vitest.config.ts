import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';
import { VitestSummary } from './scripts/vitest-summary.mjs';

/**
 * Vite would take graphql's `module` build, Node (and so type-graphql) takes its `main` build; graphql refuses types of a
 * second copy of itself.
 */
const graphql = createRequire(import.meta.url).resolve('graphql');

export default defineConfig({
  resolve: { alias: [{ find: /^graphql$/, replacement: graphql }] },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // What is waited for comes at once; a machine under load may take longer than the default second to let it.
    expect: { poll: { timeout: 10_000, interval: 20 } },
    // `npm test` sums vitest's counts and the C++ tests' counts up.
    reporters: process.env.ERRATA_TEST_SUMMARY ? ['default', new VitestSummary()] : ['default'],
  },
});
