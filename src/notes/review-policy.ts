import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { requireGrant, requireRole } from '../domain/access.js';
import type { Caller } from '../domain/api-key.js';
import { actorOf } from '../domain/audit.js';
import { ErrataError } from '../domain/errors.js';
import type { FeedbackNote, Impact, Instant } from '../domain/note.js';
import {
  DEFAULT_REVIEW_POLICY,
  daysAfter,
  MAX_APPROVALS,
  type ReviewCause,
  type ReviewPolicy,
  type ReviewState,
} from '../domain/review.js';
import { checkNamespace } from '../domain/validate-correction.js';
import type { Store } from '../ports/note-store.js';
import type { WriteContext } from './note-deps.js';

const approvals = z.int().min(0).max(MAX_APPROVALS);
const days = z.int().min(1).max(3_650);
/** What may be set; what is left out keeps its default. */
const policySchema = z.strictObject({
  approvals: z
    .strictObject({
      ordinary: approvals.optional(),
      highImpact: approvals.optional(),
      broadScope: approvals.optional(),
      unknownAuthor: approvals.optional(),
      doubt: z.int().min(1).max(MAX_APPROVALS).optional(),
    })
    .optional(),
  knownAuthors: z.array(z.string().min(1).max(2_048)).max(1_000).optional(),
  contradictions: z.enum(['HOLD', 'NEWEST']).optional(),
  dueDays: days.optional(),
  giveUpDays: days.optional(),
  demoteWhenDue: z.boolean().optional(),
});

const settingName = (namespace: string): string => `review-policy:${namespace}`;

/** One small read of the store; the default where a namespace has none of its own. */
export async function readReviewPolicy(
  { settings }: Pick<Store, 'settings'>,
  namespace: string,
): Promise<ReviewPolicy> {
  const json = await settings.get(settingName(namespace));
  if (json === undefined) return DEFAULT_REVIEW_POLICY;
  const own = policySchema.parse(JSON.parse(json));
  return {
    ...DEFAULT_REVIEW_POLICY,
    ...own,
    approvals: { ...DEFAULT_REVIEW_POLICY.approvals, ...own.approvals },
  } as ReviewPolicy;
}

/**
 * Sets a namespace's policy as a whole; notes that wait already keep what they were told. Audited by the names of what is set.
 * Errors: `FORBIDDEN`, `INVALID_INPUT` for an unknown or impossible setting.
 */
export async function saveReviewPolicy(
  { store, clock }: Pick<WriteContext, 'store' | 'clock'>,
  caller: Caller,
  namespaceGiven: string,
  policy: unknown,
): Promise<ReviewPolicy> {
  requireRole(caller, 'admin');
  const namespace = checkNamespace(namespaceGiven);
  requireGrant(caller, namespace);
  const { data, error } = policySchema.safeParse(policy);
  if (data === undefined) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected a review policy, received ${error.issues[0]?.path.join('.') || 'something else'} that is none`,
      { details: { field: 'policy' } },
    );
  }
  const dueDays = data.dueDays ?? DEFAULT_REVIEW_POLICY.dueDays;
  if ((data.giveUpDays ?? DEFAULT_REVIEW_POLICY.giveUpDays) <= dueDays) {
    throw new ErrataError(
      'INVALID_INPUT',
      'Expected more days for giveUpDays than for dueDays, received fewer',
      {
        details: { field: 'policy' },
      },
    );
  }
  await store.settings.put(settingName(namespace), JSON.stringify(data));
  await store.audit.append({
    id: randomUUID(),
    at: clock.now(),
    ...actorOf(caller),
    action: 'policy-changed',
    namespace,
    changes: [`review policy: ${Object.keys(data).join(', ') || 'default'}`],
  });
  return readReviewPolicy(store, namespace);
}

type Judged = Pick<FeedbackNote, 'impact' | 'attributes' | 'sources'>;

export interface Need {
  readonly required: number;
  readonly cause: ReviewCause;
}

/**
 * What a policy asks for before such a note goes live; the most that applies. `required` 0: nothing. `reverses` is the impact of the
 * note that it contradicts: a note that needed approvals is not displaced by one that needed none. Pure.
 */
export function neededApprovals(
  policy: ReviewPolicy,
  note: Judged,
  signs: { readonly doubt?: boolean | undefined; readonly reverses?: Impact | undefined } = {},
): Need {
  const known = (author: string | undefined): boolean =>
    policy.knownAuthors.length === 0 || (author !== undefined && policy.knownAuthors.includes(author));
  const { ordinary, highImpact, broadScope, unknownAuthor, doubt } = policy.approvals;
  const needs: readonly (Need & { readonly applies: boolean })[] = [
    { applies: signs.doubt === true, required: Math.max(1, doubt), cause: 'screening' },
    {
      applies: signs.reverses !== undefined,
      required: heldBack(policy, signs.reverses),
      cause: 'contradiction',
    },
    { applies: note.impact === 'HIGH', required: highImpact, cause: 'impact' },
    { applies: Object.keys(note.attributes).length === 0, required: broadScope, cause: 'scope' },
    {
      applies: !note.sources.some(({ author }) => known(author)),
      required: unknownAuthor,
      cause: 'unknown-author',
    },
    { applies: true, required: ordinary, cause: 'policy' },
  ];
  return needs
    .filter(({ applies }) => applies)
    .map(({ required, cause }) => ({ required, cause }))
    .reduce<Need>((most, need) => (need.required > most.required ? need : most), {
      required: 0,
      cause: 'policy',
    });
}

/** Approvals that a reversal needs for being one. */
function heldBack({ contradictions, approvals }: ReviewPolicy, reverses: Impact | undefined): number {
  return Math.max(contradictions === 'HOLD' ? 1 : 0, reverses === 'HIGH' ? approvals.highImpact : 0);
}

/** The state of a note that begins to wait now. */
export function openReview(
  policy: ReviewPolicy,
  { required, cause }: Need,
  at: Instant,
  submittedBy: string,
): ReviewState {
  return {
    cause,
    openedAt: at,
    dueAt: daysAfter(at, policy.dueDays),
    required: Math.max(1, required),
    byOthers: required >= 2,
    submittedBy,
    approvals: [],
    escalations: 0,
  };
}
