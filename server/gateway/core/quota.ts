export type Quota = {
  /** Takes `amount` for the owner. Returns false, and takes nothing, if that would exceed the owner's share or the total. */
  take(owner: string, amount: number): boolean;
  give(owner: string, amount: number): void;
};

/** Shares a resource fairly: at most `each` for one owner, at most `most` in total. */
export function quota(each: number, most = Number.POSITIVE_INFINITY): Quota {
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
