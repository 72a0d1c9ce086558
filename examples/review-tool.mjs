// A review tool: submits what a reviewer corrected and tells the reviewer what became of it.
// ERRATA_KEY=… node examples/review-tool.mjs
import { graphql } from './client.mjs';

const { submitCorrection } = await graphql(
  `mutation ($input: CorrectionInput!) {
    submitCorrection(input: $input) {
      outcome
      similarity
      note { id status lesson }
      duplicateOf { id lesson }
      findings { rule field reason }
    }
  }`,
  {
    input: {
      namespace: 'example',
      taskType: 'code-review',
      wrongAnswer: 'Reported a resource leak because the connection is never closed.',
      correction: 'The connection belongs to a pool, which takes it back at the end of the request.',
      lesson: 'A pooled connection needs no close() in request code: the pool takes it back.',
      attributes: [{ key: 'language', value: 'java' }],
      source: { kind: 'review', author: 'reviewer@example.org', record: 'PR-1234' },
    },
  },
);

const texts = {
  CREATED: 'Stored; the next check can find it.',
  UPDATED: 'Known already, word for word; your review was added to it.',
  DUPLICATE: 'A note says the same; your review was added to it.',
  MERGE_PROPOSED: 'Close to another note; a reviewer decides whether they are one.',
  NEEDS_REVIEW: 'Stored; it goes live once somebody approves it.',
  QUARANTINED: 'Stored, but kept out of answers until somebody has looked at it.',
};
console.log(`${submitCorrection.outcome}: ${texts[submitCorrection.outcome]}`);
for (const { rule, field, reason } of submitCorrection.findings)
  console.log(`  ${rule} (${field}): ${reason}`);
