/** What tests let threads do. `hold` waits until its first number is changed. */
export type Asked = { echo: unknown } | { spin: true } | { fill: true } | { fail: string } | { hold: Int32Array<SharedArrayBuffer> };

export function run(input: Asked): unknown {
  if ('echo' in input) return input.echo;
  if ('fail' in input) throw new TypeError(input.fail);
  if ('hold' in input) return Atomics.wait(input.hold, 0, 0);
  const kept: unknown[] = [];
  for (;;) if ('fill' in input) kept.push(Array.from({ length: 10_000 }, () => ({ kept })));
}
