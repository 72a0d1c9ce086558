import type { Command } from 'commander';
import type { RunningServer } from '../cli-deps.js';
import { type CliContext, defineCommand } from '../define-command.js';
import type { ProgressDisplay } from '../progress.js';
import type { Session } from '../session.js';
import { write } from '../terminal.js';

/** Three calls that work as printed. The key stands in a variable, so that it is shown once and copied once. */
function exampleCalls(server: RunningServer): string[] {
  const endpoint = `${server.url}/graphql`;
  const namespace = server.sample?.namespace ?? 'default';
  const call = (body: string): string =>
    `curl -s ${endpoint} -H "authorization: Bearer $ERRATA_KEY" -H 'content-type: application/json' -d '${body}'`;
  const graphql = (query: string, variables: object): string => call(JSON.stringify({ query, variables }));
  return [
    '# find the lessons for what is about to be judged',
    graphql(
      'query($q: RetrieveInput!) { retrieve(input: $q) { abstained notes { score note { lesson } } } }',
      { q: { namespace, query: 'CVE-2021-44228 reported for a jar that holds only log4j-api' } },
    ),
    '# the same as a prompt block',
    graphql('query($p: BuildPromptInput!) { buildPrompt(input: $p) { contextTokens prompt } }', {
      p: {
        retrieve: { namespace, query: 'CVE-2021-44228 reported for a jar that holds only log4j-api' },
        baseInstructions: 'Judge whether the finding applies.',
        item: 'CVE-2021-44228 in reports-1.4.jar, which bundles log4j-api 2.14.1',
      },
    }),
    '# store a correction',
    graphql('mutation($c: CorrectionInput!) { submitCorrection(input: $c) { outcome note { id } } }', {
      c: {
        namespace,
        taskType: 'dependency-scan',
        wrongAnswer: 'Reported the HTTP/2 reset flood against a desktop program.',
        correction: 'The program opens no listening socket, so nobody can send it frames.',
        lesson: 'Server-side HTTP/2 floods do not apply to programs that never listen on a port.',
      },
    }),
  ];
}

function banner(server: RunningServer, session: Session): string[] {
  const { style } = session;
  const lines = [
    '',
    `${style.bold('Errata')} serves GraphQL at ${style.bold(`${server.url}/graphql`)}`,
    `  store   ${server.storeDescription}, ${server.notes} active notes`,
    `  model   ${server.embeddingModel}`,
  ];
  if (server.embeddingNotice !== undefined) lines.push(`          ${server.embeddingNotice}`);
  if (server.sample !== undefined) {
    lines.push(`  sample  ${server.sample.notes} notes in the namespace "${server.sample.namespace}"`);
  }
  if (server.newAdminKey !== undefined) {
    lines.push('', 'The admin key, shown this once:', `  export ERRATA_KEY=${server.newAdminKey}`);
  } else lines.push('', 'Lost the key? Make another: npx errata keys create NAME --role admin');
  if (server.firstStart) lines.push('', 'Three calls to try:', ...exampleCalls(server));
  lines.push('', 'Ctrl-C ends it.');
  return lines;
}

async function serve(session: Session): Promise<void> {
  let step = '';
  let display: ProgressDisplay | undefined;
  const server = await session.deps.serve(session.config, {
    signal: session.signal,
    onProgress: (name, progress) => {
      if (name !== step) {
        display?.stop();
        display = session.progress(name);
        step = name;
      }
      display?.update(progress);
    },
  });
  display?.stop();
  try {
    if (session.json) {
      const { url, newAdminKey, firstStart, sample, notes, storeDescription } = server;
      const { embeddingModel, embeddingNotice } = server;
      const document = {
        url,
        newAdminKey,
        firstStart,
        sample,
        notes,
        store: storeDescription,
        embeddingModel,
        embeddingNotice,
      };
      // One line, so that a supervisor can read it while the server goes on.
      await write(session.terminal.stdout, `${JSON.stringify(document)}\n`);
    } else {
      await write(session.terminal.stdout, `${banner(server, session).join('\n')}\n`);
    }
    await aborted(session.signal);
    if (!session.json) session.note('Closing …');
  } finally {
    await server.close();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

export function addServe(program: Command, context: CliContext): void {
  defineCommand(
    program.command('serve').description('serve GraphQL over HTTP and WebSocket until Ctrl-C'),
    context,
    serve,
    { showSettings: true },
  );
}
