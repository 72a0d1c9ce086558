import { Field, ObjectType } from 'type-graphql';
import type { Keyset, Page } from '../../ports/note-store.js';
import type { CursorCodec } from './cursor-codec.js';

@ObjectType('PageInfo', { description: 'Where a page stands in its list (Relay).', simpleResolvers: true })
export class PageInfoType {
  @Field(() => Boolean, { description: 'Whether entries follow the page.' })
  readonly hasNextPage: boolean;
  @Field(() => Boolean, { description: 'Whether entries precede the page.' })
  readonly hasPreviousPage: boolean;
  @Field(() => String, { nullable: true, description: 'Cursor of the first entry; none on an empty page.' })
  readonly startCursor: string | undefined;
  @Field(() => String, { nullable: true, description: 'Cursor of the last entry; none on an empty page.' })
  readonly endCursor: string | undefined;

  constructor(page: Pick<Page<unknown>, 'hasNext' | 'hasPrevious'>, cursors: readonly string[]) {
    this.hasNextPage = page.hasNext;
    this.hasPreviousPage = page.hasPrevious;
    this.startCursor = cursors[0];
    this.endCursor = cursors.at(-1);
  }
}

/** Cursors of a page's entries, in order. */
export function pageCursors(
  codec: CursorCodec,
  binding: string,
  keysets: readonly Keyset[],
): readonly string[] {
  return keysets.map((keyset) => codec.encode(binding, keyset));
}
