import type { TokenScope } from '#server/domain/ai-gateways/tokens.schema.ts';

/** Each restriction of a token in a few words. */
export function scopeChips(scope: TokenScope): string[] {
  const some = (names: readonly string[] | undefined, noun: string) =>
    names === undefined || names.length === 0 ? [] : [names.length === 1 ? String(names[0]) : `${names.length} ${noun}`];
  const amount = (value: string | number | undefined, words: string) => (value === undefined ? [] : [`${value} ${words}`]);
  const window = scope.valid_window;
  return [
    ...some(scope.models, 'models'),
    ...some(scope.providers, 'providers'),
    ...some(scope.operations, 'operations'),
    ...some(scope.tools, 'tools'),
    ...(scope.resource ? ['one server'] : []),
    ...(scope.daily_usd_cap ? [`$${scope.daily_usd_cap} a day`] : []),
    ...(scope.monthly_usd_cap ? [`$${scope.monthly_usd_cap} a month`] : []),
    ...amount(scope.daily_token_cap, 'tokens a day'),
    ...amount(scope.monthly_token_cap, 'tokens a month'),
    ...amount(scope.max_tokens_per_call, 'tokens a call'),
    ...amount(scope.rpm, 'a minute'),
    ...some(scope.ip_cidrs, 'address ranges'),
    ...(window
      ? [
          [window.from && `${window.from}–${window.to}`, window.days && `${window.days.length} days`].filter(Boolean).join(', ') ||
            'from a date',
        ]
      : []),
    ...(scope.user ? [`user ${scope.user}`] : []),
    ...Object.entries(scope.tags ?? {}).map(([name, value]) => `${name}=${value}`),
  ];
}
