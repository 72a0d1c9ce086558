// A checker: asks for the lessons that apply, puts them into its prompt, and says afterwards whether they helped.
// ERRATA_KEY=… node examples/checker.mjs "netty-codec-http2 CVE-2023-44487 in a desktop viewer"
import { graphql } from './client.mjs';

const item = process.argv[2] ?? 'CVE-2023-44487 reported for netty-codec-http2 in a desktop program';

const { buildPrompt } = await graphql(
  `query ($input: BuildPromptInput!) {
    buildPrompt(input: $input) {
      prompt
      contextTokens
      included { id lesson }
      retrieval { id abstained degraded }
    }
  }`,
  {
    input: {
      retrieve: { namespace: process.env.ERRATA_NAMESPACE ?? 'sample', query: item },
      baseInstructions: 'Judge whether the finding applies. Answer APPLIES or DOES NOT APPLY and why.',
      item,
    },
  },
);

// Here a real checker calls its language model with this text.
console.log(buildPrompt.prompt);
console.error(`${buildPrompt.included.length} lessons, ${buildPrompt.contextTokens} tokens`);

// Once a person has looked at the verdict, the receipt links it to the lessons that were shown.
const [first] = buildPrompt.included;
if (first !== undefined) {
  await graphql(
    `mutation ($receiptId: ID!, $noteId: ID!) {
      recordOutcome(receiptId: $receiptId, noteId: $noteId, verdict: HELPFUL)
    }`,
    { receiptId: buildPrompt.retrieval.id, noteId: first.id },
  );
}
