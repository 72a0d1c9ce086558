import { registerEnumType } from 'type-graphql';
import { ANCHOR_KINDS } from '../domain/anchor.js';
import { JOB_KINDS } from '../domain/job.js';
import { IMPACTS, NOTE_STATUSES } from '../domain/note.js';
import { RISKS } from '../domain/retrieval.js';
import { BATCH_KINDS, LAYOUT_REASONS, MODEL_ROLES } from '../ports/model-runtime.js';
import type { NoteOrder } from '../ports/note-store.js';
import { REVIEW_DECISIONS } from '../ports/review-commands.js';
import { SUBMIT_OUTCOMES, VERDICTS } from '../ports/use-cases.js';

type EnumObject<V extends string> = { readonly [K in V]: K };

/** Registers a domain list of values as a GraphQL enum; every value needs a description, which the compiler checks. */
function registerValues<V extends string>(
  name: string,
  description: string,
  values: readonly V[],
  descriptions: Readonly<Record<V, string>>,
): EnumObject<V> {
  const enumObject = Object.fromEntries(values.map((value) => [value, value])) as EnumObject<V>;
  const valuesConfig = Object.fromEntries(
    values.map((value) => [value, { description: descriptions[value] }]),
  );
  registerEnumType<EnumObject<V>>(enumObject, {
    name,
    description,
    valuesConfig: valuesConfig as Record<V, { description: string }>,
  });
  return enumObject;
}

export const NoteStatusEnum = registerValues('NoteStatus', 'Where a note stands.', NOTE_STATUSES, {
  PENDING: 'Waits for a reviewer; not retrieved.',
  ACTIVE: 'Retrieved and injected.',
  DEPRECATED: 'Taken out of retrieval; kept with its history and restorable.',
  QUARANTINED: 'Held back by the screen, for instance as a suspected injection; a reviewer decides.',
});

export const ImpactEnum = registerValues('Impact', 'How much a wrong note could do.', IMPACTS, {
  LOW: 'Narrow; a mistake costs little.',
  NORMAL: 'The usual case.',
  HIGH: 'Broad or safety-relevant: needs approval before it goes live.',
});

export const SubmitOutcomeEnum = registerValues(
  'SubmitOutcome',
  'What became of a submitted correction.',
  SUBMIT_OUTCOMES,
  {
    CREATED: 'A new note was stored.',
    UPDATED: 'The same correction was known already; its metadata was brought up to date.',
    DUPLICATE: 'A near duplicate exists; the source and its support were added there.',
    MERGE_PROPOSED: 'Stored as PENDING beside a similar note; a reviewer decides whether they merge.',
    NEEDS_REVIEW: 'Stored as PENDING; it goes live after approval.',
    QUARANTINED: 'Stored but held back by the screen; the findings say why.',
    REFUSED:
      'Only in batches: this entry was invalid, nothing of it was stored, and the findings say why. A single submission fails with an error instead.',
  },
);

export const AnchorKindEnum = registerValues('AnchorKind', 'What a note can depend on.', ANCHOR_KINDS, {
  FILE: 'A file; its state is a digest.',
  RULE: 'A rule of a checker; its state is a version.',
  TICKET: 'A ticket; its state is its status.',
  URL: 'A page; its state is a digest or date.',
});

export const ContradictionPolicyEnum = registerValues(
  'ContradictionPolicy',
  'What becomes of a correction that reverses another.',
  ['HOLD', 'NEWEST'] as const,
  {
    HOLD: 'It waits for a reviewer; the older one is served meanwhile, and answers say that it is contested.',
    NEWEST:
      'It goes live where nothing else speaks for looking; answers prefer it and say so, until a reviewer has decided.',
  },
);

export const ConflictResolutionEnum = registerValues(
  'ConflictResolution',
  'Which of two contradicting notes an answer preferred.',
  ['NEWEST', 'CONTESTED'] as const,
  {
    NEWEST: 'The older one was left out for the newer.',
    CONTESTED: 'The older one was served, since the newer waits for a reviewer or was not found.',
  },
);

export const RiskEnum = registerValues('Risk', 'How much work a retrieval is worth.', RISKS, {
  LOW: 'No reranking: faster, less precise.',
  NORMAL: 'Every configured stage runs.',
});

export const ReviewDecisionEnum = registerValues(
  'ReviewDecision',
  "A reviewer's decision about a note.",
  REVIEW_DECISIONS,
  {
    APPROVE: 'The note goes live; with `edit`, the edited correction goes live instead and supersedes it.',
    REJECT: 'The note is deprecated.',
    MERGE: 'The note is merged into its near duplicate, which gains its sources and support.',
    KEEP_BOTH: 'The near duplicates say different things: both stay.',
    REPLACE: 'The note goes live and supersedes its near duplicate.',
  },
);

export const VerdictEnum = registerValues('Verdict', 'How a retrieved lesson turned out.', VERDICTS, {
  HELPFUL: 'It prevented the mistake.',
  HARMFUL: 'It misled.',
  IGNORED: 'It did not matter.',
});

export const JobKindEnum = registerValues('JobKind', 'Kinds of background work.', JOB_KINDS, {
  BACKFILL: 'Embeds notes that lack vectors of the current model.',
  REEMBED: 'Embeds every note again with the current model.',
  STALENESS_SWEEP:
    'Deprecates what has expired, queues what is due for review, escalates and gives up what waits too long; options dryRun, undo.',
  COMPACTION: 'Frees tombstones of the index and prunes logs.',
  EVALUATION: 'Runs a golden set and reports recall, ranks and abstention.',
  CALIBRATION:
    'Fits thresholds on a golden set, so that few queries without an answer get a note; option alpha.',
  SWEEP: "Tries stages and settings on a namespace's golden set; option only (groups with commas between).",
  ANSWERS:
    'Asks the configured checker about the saved cases, without and with lessons; options instructions, maxCalls or budget with promptPrice and completionPrice, attribute, concurrency.',
  ERASURE: 'Removes texts for law or leaked secrets.',
  KEY_ROTATION: 'Seals everything that is stored with the present encryption key.',
  MODEL_SWITCH:
    'Embeds everything with another model, compares, and switches; options model, epsilon, force, rollback.',
  VECTOR_DROP:
    'Frees the vectors of a model that served before, once nobody wants to go back to it; option model.',
});

const NOTE_ORDERS = [
  'CREATED_DESC',
  'CREATED_ASC',
  'UPDATED_DESC',
  'RISK_DESC',
] as const satisfies readonly NoteOrder[];

export const NoteOrderEnum = registerValues(
  'NoteOrder',
  'Order of a list of notes; ties go by id.',
  NOTE_ORDERS,
  {
    CREATED_DESC: 'Newest first.',
    CREATED_ASC: 'Oldest first.',
    UPDATED_DESC: 'Last changed first.',
    RISK_DESC: 'QUARANTINED first, then impact from HIGH to LOW, then what has waited longest.',
  },
);

export const ModelRoleEnum = registerValues('ModelRole', 'What a model is used for.', MODEL_ROLES, {
  EMBEDDING: 'Turns texts into vectors.',
  RERANKING: 'Judges candidates once more.',
});

export const BatchKindEnum = registerValues(
  'BatchKind',
  'Which texts share a run of a local model.',
  BATCH_KINDS,
  {
    ALONE: 'None: an output would depend on its batch mates.',
    EQUAL_LENGTHS: 'Those of the same number of tokens, which get the same bits as alone.',
    PADDED: 'Any, padded; equal to running alone up to rounding.',
  },
);

export const LayoutReasonEnum = registerValues(
  'LayoutReason',
  'Why a local model runs in as many sessions as it does.',
  LAYOUT_REASONS,
  {
    CONFIGURED: 'There was no choice: one thread, a device, or a setting.',
    SIZE: 'So large that it is held once, or nothing is kept between starts.',
    MEASURED: 'Both ways were measured at this start.',
    REMEMBERED: 'Both ways were measured at an earlier start.',
  },
);
