import type { Collection } from 'mongodb';
import type { NamespaceScope, StatusCounts } from '../../ports/note-store.js';
import type { NoteDocument } from './mongo-documents.js';
import { scopeFilter } from './mongo-note-filter.js';

interface Group {
  readonly _id: { readonly namespace: string; readonly taskType: string; readonly status: string };
  readonly notes: number;
}

const COUNTED = {
  ACTIVE: 'active',
  PENDING: 'pending',
  DEPRECATED: 'deprecated',
  QUARANTINED: 'quarantined',
} as const;

/** Ordered by namespace and task type. */
export async function countByStatus(
  notes: Collection<NoteDocument>,
  scope: NamespaceScope,
): Promise<StatusCounts[]> {
  const key = { namespace: '$namespace', taskType: '$taskType', status: '$status' };
  const pipeline = [{ $match: scopeFilter(scope) }, { $group: { _id: key, notes: { $sum: 1 } } }];
  const groups = await notes.aggregate<Group>(pipeline).toArray();
  const counts = new Map<string, StatusCounts>();
  for (const { _id, notes: count } of groups) {
    const { namespace, taskType } = _id;
    const name = JSON.stringify([namespace, taskType]);
    const held = counts.get(name) ?? {
      namespace,
      taskType,
      active: 0,
      pending: 0,
      deprecated: 0,
      quarantined: 0,
    };
    const status = COUNTED[_id.status as keyof typeof COUNTED];
    counts.set(name, status === undefined ? held : { ...held, [status]: count });
  }
  const order = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);
  return Array.from(counts.values()).sort(
    (a, b) => order(a.namespace, b.namespace) || order(a.taskType, b.taskType),
  );
}
