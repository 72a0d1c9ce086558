/** Numbers for the terms of one namespace, and how many notes hold each. About 100 bytes a distinct term. */
export class TermDirectory {
  readonly #numbers = new Map<string, number>();
  readonly #counts: number[] = [];

  /** Counts a note in; the numbers are what `remove` wants back. `terms` must be distinct. */
  add(terms: Iterable<string>): Uint32Array {
    const numbers = Array.from(terms, (term) => {
      const known = this.#numbers.get(term);
      if (known !== undefined) return known;
      this.#numbers.set(term, this.#counts.length);
      return this.#counts.push(0) - 1;
    });
    for (const number of numbers) this.#counts[number] = (this.#counts[number] ?? 0) + 1;
    return Uint32Array.from(numbers);
  }

  remove(numbers: Uint32Array): void {
    for (const number of numbers) this.#counts[number] = (this.#counts[number] ?? 0) - 1;
  }

  /** Terms that were ever counted. */
  get size(): number {
    return this.#counts.length;
  }

  /** Number of notes that hold the term. */
  count(term: string): number {
    const number = this.#numbers.get(term);
    return number === undefined ? 0 : (this.#counts[number] ?? 0);
  }
}
