// Vitest reporter (vitest.config.ts): writes counts, and why tests were skipped, as JSON to the file named by ERRATA_TEST_SUMMARY.
import { writeFileSync } from 'node:fs';
import path from 'node:path';

export class VitestSummary {
  onTestRunEnd(modules, unhandledErrors) {
    const summary = { passed: 0, failed: unhandledErrors.length, skipped: 0, skips: [] };
    for (const module of modules) {
      const name = path.relative(process.cwd(), module.moduleId);
      let tests = 0;
      for (const test of module.children.allTests()) {
        tests += 1;
        const { state, note } = test.result();
        if (state === 'passed') summary.passed += 1;
        else if (state === 'failed') summary.failed += 1;
        else {
          summary.skipped += 1;
          summary.skips.push({ file: name, test: test.fullName, reason: note ?? '' });
        }
      }
      // A file that cannot be loaded, or whose hooks fail, has no failed test of its own.
      const failedTests = [...module.children.allTests('failed')].length;
      if (!module.ok() && failedTests === 0) summary.failed += 1;
      if (tests === 0 && module.ok() && module.state() === 'passed') summary.failed += 1;
    }
    writeFileSync(process.env.ERRATA_TEST_SUMMARY, JSON.stringify(summary));
  }
}
