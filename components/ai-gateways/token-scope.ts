import { AI_OPERATIONS, type TokenKind } from '#server/domain/ai-gateways/tokens.schema.ts';
import { changesOf, type Setting, type SettingValues } from './settings-fields.ts';

export const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'].map((label, index) => ({
  value: String(index + 1),
  label,
}));
export const OPERATION_OPTIONS = AI_OPERATIONS.map((value) => ({ value, label: value.replaceAll('_', ' ') }));

const spend: readonly Setting[] = [
  { name: 'daily_usd_cap', label: 'Per day', kind: 'decimal', suffix: 'USD', placeholder: 'No limit' },
  { name: 'monthly_usd_cap', label: 'Per month', kind: 'decimal', suffix: 'USD', placeholder: 'No limit' },
  { name: 'daily_token_cap', label: 'Tokens per day', kind: 'integer', suffix: 'tokens', placeholder: 'No limit' },
  { name: 'monthly_token_cap', label: 'Tokens per month', kind: 'integer', suffix: 'tokens', placeholder: 'No limit' },
  { name: 'max_tokens_per_call', label: 'Output per call', kind: 'integer', suffix: 'tokens', placeholder: 'No limit' },
  { name: 'rpm', label: 'Requests per minute', kind: 'integer', placeholder: 'No limit', hint: 'At most 10000.' },
];
const models: readonly Setting[] = [
  {
    name: 'models',
    label: 'Models',
    kind: 'lines',
    hint: 'IDs of the models that are called, one per line. Leave empty for those of the agent.',
  },
  { name: 'providers', label: 'Providers', kind: 'lines', hint: 'One per line. Leave empty for any.' },
  { name: 'operations', label: 'Operations', kind: 'many', from: 'operations', empty: 'Any operation' },
];
const tools: readonly Setting[] = [
  {
    name: 'resource',
    label: 'MCP server',
    kind: 'text',
    mono: true,
    placeholder: 'https://…/v1/mcp/github',
    hint: 'The resource URI of one server. Leave empty for every server of the gateway.',
  },
  { name: 'tools', label: 'Tools', kind: 'lines', hint: 'Names, one per line. Leave empty for those the server allows.' },
  { name: 'rpm', label: 'Requests per minute', kind: 'integer', placeholder: 'No limit', hint: 'At most 10000.' },
];
const where: readonly Setting[] = [
  {
    name: 'ip_cidrs',
    label: 'Addresses',
    kind: 'lines',
    placeholder: '203.0.113.0/24',
    hint: 'One IP address or CIDR range per line. Leave empty to allow any.',
  },
  { name: 'valid_window.days', label: 'Days', kind: 'many', from: 'days', empty: 'Any day' },
  {
    name: 'valid_window.from',
    label: 'From',
    kind: 'text',
    placeholder: '09:00',
    hint: 'Time of day. After midnight if it is later than the end.',
  },
  { name: 'valid_window.to', label: 'To', kind: 'text', placeholder: '17:30' },
  { name: 'valid_window.tz', label: 'Time zone', kind: 'text', placeholder: 'UTC' },
  { name: 'valid_window.not_before', label: 'Not before', kind: 'text', placeholder: '2027-01-31T09:00:00Z' },
];
const who: readonly Setting[] = [
  { name: 'user', label: 'User', kind: 'text', hint: 'External ID of the person this token speaks for. Callers can’t name another.' },
  { name: 'tags', label: 'Tags', kind: 'pairs', placeholder: 'team = support', hint: 'Labels of its spend, added to those of the agent.' },
];

/** What a token of a kind can be narrowed by, in groups. A token can only narrow what its agent allows. */
export const scopeGroups = (kind: TokenKind): readonly { title: string; settings: readonly Setting[] }[] => [
  ...(kind === 'tool'
    ? [{ title: 'Tools', settings: tools }]
    : [
        { title: 'Spend', settings: spend },
        { title: 'Models', settings: models },
      ]),
  { title: 'Where and when', settings: where },
  { title: 'Who', settings: who },
];

/** The scope that a form says; without a member there is no restriction of that sort. */
export function scopeOf(kind: TokenKind, values: SettingValues): Record<string, unknown> {
  const settings = scopeGroups(kind).flatMap((group) => group.settings);
  const scope = changesOf(settings, values, {});
  const window = scope.valid_window as Record<string, unknown> | undefined;
  if (Array.isArray(window?.days)) scope.valid_window = { ...window, days: window.days.map(Number) };
  return scope;
}
