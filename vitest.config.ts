import { defineConfig } from 'vitest/config';
import { VitestSummary } from './scripts/vitest-summary.mjs';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // `npm test` sums vitest's counts and the C++ tests' counts up.
    reporters: process.env.ERRATA_TEST_SUMMARY ? ['default', new VitestSummary()] : ['default'],
  },
});
