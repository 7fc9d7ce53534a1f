/** Set by `npm test -- --thorough`. */
export const THOROUGH = process.env.SALLYPORT_THOROUGH === '1';

/** Where generated cases begin: the same ones in every run, so that a run fails for what was changed; others each time when thorough. */
export const SEED = THOROUGH ? Date.now() % 2 ** 31 : 20_261_122;

/**
 * All values when thorough, else `count` of them: others for each `place`, such as the id of an operation, so that tests over many places still use every
 * value. The same place has the same values in every run.
 */
export function sampled<T>(values: readonly T[], count: number, place: string): readonly T[] {
  if (THOROUGH || values.length <= count) return values;
  let turn = 0;
  for (const character of place) turn = (turn * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return Array.from({ length: count }, (_, i) => values[(turn + i * Math.ceil(values.length / count)) % values.length] as T);
}
