import { Arg, Resolver, Root, type SubscribeResolverData, Subscription } from 'type-graphql';
import { requireRole } from '../../domain/access.js';
import type { FeedbackNote } from '../../domain/note.js';
import { DEFAULT_NAMESPACE } from '../../domain/validate-correction.js';
import { requireNamespace } from '../access.js';
import type { GraphqlContext } from '../context.js';
import { FeedbackNoteType } from './note.type.js';

interface NoteChangedArguments {
  readonly namespace?: string | null;
  readonly taskType?: string | null;
}

/** Role and grant are checked when the subscription starts; the socket re-checks the key while it lives. */
function subscribeToChanges({
  args,
  context,
}: SubscribeResolverData<
  unknown,
  Record<string, unknown>,
  GraphqlContext
>): AsyncIterableIterator<FeedbackNote> {
  requireRole(context.caller, 'reader');
  const { namespace, taskType } = args as NoteChangedArguments;
  return context.useCases.feed.changes(requireNamespace(context.caller, namespace), taskType ?? undefined);
}

@Resolver()
export class NoteChangesResolver {
  @Subscription(() => FeedbackNoteType, {
    description:
      'Every note of the namespace that is created or changed from now on, also by other processes.',
    subscribe: subscribeToChanges,
  })
  noteChanged(
    @Root() note: FeedbackNote,
    @Arg('namespace', () => String, {
      nullable: true,
      defaultValue: DEFAULT_NAMESPACE,
      description: 'The namespace to follow.',
    })
    _namespace?: string | null,
    @Arg('taskType', () => String, { nullable: true, description: 'Only this task type.' })
    _taskType?: string | null,
  ): FeedbackNoteType {
    return new FeedbackNoteType(note);
  }
}
