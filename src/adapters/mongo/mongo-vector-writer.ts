import type { Collection, Filter } from 'mongodb';
import { ERASED_TEXT } from '../../domain/lifecycle.js';
import type { NoteId, NoteVectors } from '../../domain/note.js';
import type { Cipher } from '../../ports/cipher.js';
import type { ResealedPage } from '../../ports/note-store.js';
import {
  allVectors,
  type NoteDocument,
  noteFromDocument,
  textFields,
  type VectorSubtype,
  vectorDocument,
  vectorKey,
} from './mongo-documents.js';

export interface VectorWriterParts {
  readonly notes: Collection<NoteDocument>;
  readonly vectorSubtype: VectorSubtype;
  readonly cipher: Cipher | undefined;
}

/** What changes how a note is stored without changing what it says: no version, no event, no change entry. */
export class MongoVectorWriter {
  readonly #notes: Collection<NoteDocument>;
  readonly #vectorSubtype: VectorSubtype;
  readonly #cipher: Cipher | undefined;

  constructor(parts: VectorWriterParts) {
    this.#notes = parts.notes;
    this.#vectorSubtype = parts.vectorSubtype;
    this.#cipher = parts.cipher;
  }

  async putVectors(
    entries: readonly { readonly id: NoteId; readonly vectors: NoteVectors }[],
  ): Promise<number> {
    let written = 0;
    for (const { id, vectors } of entries) {
      const field = `vectors.${vectorKey(vectors.modelId)}`;
      const encoded = vectorDocument(id, vectors, this.#vectorSubtype, this.#cipher);
      const result = await this.#notes.updateOne(notErased(id), { $set: { [field]: encoded } });
      written += result.matchedCount;
    }
    return written;
  }

  async adoptModel(modelId: string, afterId: NoteId | undefined, limit: number): Promise<NoteId | undefined> {
    const ids = await this.#ids(
      {
        [`vectors.${vectorKey(modelId)}.modelId`]: modelId,
        embeddingModel: { $ne: modelId },
        _id: { $gt: afterId ?? '' },
      },
      limit,
    );
    await this.#notes.updateMany({ _id: { $in: ids } }, { $set: { embeddingModel: modelId } });
    return ids.length < limit ? undefined : ids.at(-1);
  }

  async dropVectors(modelId: string, limit: number): Promise<number> {
    const field = `vectors.${vectorKey(modelId)}`;
    const ids = await this.#ids({ [`${field}.modelId`]: modelId, embeddingModel: { $ne: modelId } }, limit);
    await this.#notes.updateMany({ _id: { $in: ids } }, { $unset: { [field]: '' } });
    return ids.length;
  }

  async reseal(afterId: NoteId | undefined, limit: number): Promise<ResealedPage> {
    const cipher = this.#cipher;
    if (cipher === undefined) return { resealed: 0 };
    const documents = await this.#notes
      .find({ _id: { $gt: afterId ?? '' } })
      .sort({ _id: 1 })
      .limit(limit)
      .toArray();
    let resealed = 0;
    for (const document of documents) {
      const change = this.#resealedFields(document, cipher);
      if (Object.keys(change).length === 0) continue;
      await this.#notes.updateOne(notErased(document._id), { $set: change });
      resealed += 1;
    }
    return documents.length < limit ? { resealed } : { resealed, lastId: documents.at(-1)?._id };
  }

  #resealedFields(document: NoteDocument, cipher: Cipher): Record<string, unknown> {
    const keyId = cipher.keyId();
    const note = document.sealed?.keyId === keyId ? undefined : noteFromDocument(document, cipher);
    const texts = note === undefined ? undefined : textFields(note, cipher);
    const stale = Object.values(document.vectors ?? {}).some((held) => held.keyId !== keyId);
    const vectors = stale ? allVectors(document, cipher) : [];
    return {
      ...(texts?.sealed ? texts : {}),
      ...Object.fromEntries(
        vectors.map((each) => [
          `vectors.${vectorKey(each.modelId)}`,
          vectorDocument(document._id, each, this.#vectorSubtype, cipher),
        ]),
      ),
    };
  }

  async #ids(filter: Filter<NoteDocument>, limit: number): Promise<NoteId[]> {
    const find = this.#notes.find(filter, { projection: { _id: 1 } });
    return (await find.sort({ _id: 1 }).limit(limit).toArray()).map(({ _id }) => _id);
  }
}

/** An erasure that came first has the last word. */
function notErased(id: NoteId): Filter<NoteDocument> {
  return { _id: id, lesson: { $ne: ERASED_TEXT } };
}
