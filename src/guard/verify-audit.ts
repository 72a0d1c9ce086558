import { type AuditLink, eventDigest, GENESIS, isIntact } from '../domain/audit-chain.js';
import type { AuditLog, Keyset } from '../ports/note-store.js';

export const AUDIT_PROBLEMS = [
  /** A link's hash is not that of its fields, or does not follow from the link before. */
  'BROKEN_LINK',
  /** A number is missing: links were removed. */
  'MISSING_LINK',
  /** An event says something else than when it was written. */
  'CHANGED_EVENT',
  /** An event that the chain knows is gone. */
  'MISSING_EVENT',
  /** An event that the chain does not know and that nothing says to be on its way there: it was put in past it. */
  'UNCHAINED_EVENT',
  /** The chain does not lead to the head that the caller had noted down: its end was removed or rewritten. */
  'OTHER_HEAD',
] as const;

export interface AuditProblem {
  readonly kind: (typeof AUDIT_PROBLEMS)[number];
  readonly link?: number | undefined;
  readonly eventId?: string | undefined;
}

/** A link's number and hash, to be noted down where whoever can write to the store cannot. */
export interface AuditHead {
  readonly number: number;
  readonly hash: string;
}

export interface AuditVerification {
  readonly links: number;
  readonly events: number;
  readonly head?: AuditHead | undefined;
  /** The first `MAX_PROBLEMS`, in the order met. */
  readonly problems: readonly AuditProblem[];
  readonly problemCount: number;
  /**
   * Events that no link holds yet, though the store knows that it has to write one: a process is at it, or died between the two on
   * a server without transactions. No sign of tampering; the next process that opens or mends the store seals them.
   */
  readonly unsealed: readonly string[];
}

const MAX_PROBLEMS = 100;
/** Links and events a round trip. */
const PAGE = 200;

/**
 * Recomputes the whole chain and compares every event with it. Memory: the ids of all events, about 100 bytes each. A chain
 * proves nothing about its own end: give a `head` that was noted down earlier to see whether everything up to it is still there.
 */
export async function verifyAudit(log: AuditLog, noted?: AuditHead): Promise<AuditVerification> {
  const problems: AuditProblem[] = [];
  let problemCount = 0;
  const report = (problem: AuditProblem): void => {
    problemCount += 1;
    if (problems.length < MAX_PROBLEMS) problems.push(problem);
  };
  // Links first: an event that is written meanwhile is then unknown to neither.
  const known = new Set<string>();
  let head: AuditHead | undefined;
  let links = 0;
  for (;;) {
    const page = await log.links(head?.number ?? 0, PAGE);
    for (const link of page) {
      checkLink(link, head, report);
      if (noted?.number === link.number && noted.hash !== link.hash) {
        report({ kind: 'OTHER_HEAD', link: link.number });
      }
      head = { number: link.number, hash: link.hash };
      links += 1;
    }
    await checkEvents(log, page, known, report);
    if (page.length < PAGE) break;
  }
  if (noted !== undefined && noted.number > (head?.number ?? 0)) {
    report({ kind: 'OTHER_HEAD', link: noted.number });
  }
  const { events, unsealed } = await findUnchained(log, known, report);
  return { links, events, head, problems, problemCount, unsealed };
}

type Report = (problem: AuditProblem) => void;

function checkLink(link: AuditLink, before: AuditHead | undefined, report: Report): void {
  const expected = (before?.number ?? 0) + 1;
  if (link.number !== expected) report({ kind: 'MISSING_LINK', link: expected });
  else if (link.previous !== (before?.hash ?? GENESIS) || !isIntact(link)) {
    report({ kind: 'BROKEN_LINK', link: link.number });
  }
}

async function checkEvents(
  log: AuditLog,
  links: readonly AuditLink[],
  known: Set<string>,
  report: Report,
): Promise<void> {
  const sealed = links.flatMap(({ number, events }) =>
    events.map(([id, digest]) => ({ number, id, digest })),
  );
  for (let start = 0; start < sealed.length; start += PAGE) {
    const batch = sealed.slice(start, start + PAGE);
    const found = new Map((await log.getMany(batch.map(({ id }) => id))).map((event) => [event.id, event]));
    for (const { number, id, digest } of batch) {
      known.add(id);
      const event = found.get(id);
      if (event === undefined) report({ kind: 'MISSING_EVENT', link: number, eventId: id });
      else if (eventDigest(event) !== digest) report({ kind: 'CHANGED_EVENT', link: number, eventId: id });
    }
  }
}

/** Pages newest first. */
async function findUnchained(
  log: AuditLog,
  known: ReadonlySet<string>,
  report: Report,
): Promise<{ readonly events: number; readonly unsealed: readonly string[] }> {
  let events = 0;
  let after: Keyset | undefined;
  const unknown: string[] = [];
  for (;;) {
    const page = await log.list('all', {}, { limit: PAGE, after });
    events += page.items.length;
    unknown.push(...page.items.filter(({ id }) => !known.has(id)).map(({ id }) => id));
    after = page.keysets.at(-1);
    if (!page.hasNext || after === undefined) break;
  }
  if (unknown.length === 0) return { events, unsealed: [] };
  // Before the links: an event that is on its way here has its link by then.
  const onTheirWay = new Set(await log.unsealed());
  // Written while the links were read: what the chain knows by now is no problem.
  const late = new Set<string>();
  const last = await log.lastLink();
  for (let number = 0; number < (last?.number ?? 0); ) {
    const page = await log.links(number, PAGE);
    for (const link of page) for (const [id] of link.events) if (!known.has(id)) late.add(id);
    number = page.at(-1)?.number ?? Number.MAX_SAFE_INTEGER;
  }
  const loose = unknown.filter((id) => !late.has(id));
  for (const eventId of loose) if (!onTheirWay.has(eventId)) report({ kind: 'UNCHAINED_EVENT', eventId });
  return { events, unsealed: loose.filter((id) => onTheirWay.has(id)) };
}
