/** What the tests of the pool let it do. */
export type Asked = { echo: unknown } | { spin: true } | { fill: true } | { fail: string };

export function run(input: Asked): unknown {
  if ('echo' in input) return input.echo;
  if ('fail' in input) throw new TypeError(input.fail);
  const kept: unknown[] = [];
  for (;;) if ('fill' in input) kept.push(Array.from({ length: 10_000 }, () => ({ kept })));
}
