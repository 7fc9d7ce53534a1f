export type Shares = {
  /** Takes so much for somebody. False, and nothing is taken, when they or all together would have more than they may. */
  take(owner: string, amount: number): boolean;
  give(owner: string, amount: number): void;
};

/** Something that all have together and nobody may have alone: at most `each` of one owner, and `most` of all. */
export function shares(each: number, most = Number.POSITIVE_INFINITY): Shares {
  const taken = new Map<string, number>();
  let total = 0;
  return {
    take(owner, amount) {
      const own = (taken.get(owner) ?? 0) + amount;
      if (own > each || total + amount > most) return false;
      taken.set(owner, own);
      total += amount;
      return true;
    },
    give(owner, amount) {
      const left = (taken.get(owner) ?? 0) - amount;
      total -= amount;
      if (left > 0) taken.set(owner, left);
      else taken.delete(owner);
    },
  };
}
