import type { Fields } from '#server/kernel/descriptions.ts';

/** What the members of a token's scope mean. Every family with such a field needs them, because it describes the schemas it names. */
export const tokenScopeFields: Fields = {
  'AiTokenScope.models': 'Models that may be called. At most 100.',
  'AiTokenScope.providers': 'Providers that may be called. At most 100.',
  'AiTokenScope.operations': 'Kinds of calls that may be made, such as `chat` or `embeddings`.',
  'AiTokenScope.tools': 'MCP tools that may be listed and called. At most 200.',
  'AiTokenScope.resource': 'The one MCP server that the token is for (RFC 8707). Only for tokens of kind `tool`.',
  'AiTokenScope.valid_window': 'When the token may be used.',
  'valid_window.not_before': 'Earliest use.',
  'valid_window.not_after': 'Latest use.',
  'valid_window.days': 'Days of the week, 1 for Monday to 7 for Sunday.',
  'valid_window.from': 'Start of the time of day, such as `09:00`. If it is later than `to`, the period spans midnight.',
  'valid_window.to': 'End of the time of day.',
  'valid_window.tz': 'Time zone of days and times. Defaults to UTC.',
  'AiTokenScope.ip_cidrs': 'IP addresses and CIDR ranges that callers must be in. At most 32.',
  'AiTokenScope.daily_token_cap': 'Maximum input and output tokens per day (UTC).',
  'AiTokenScope.monthly_token_cap': 'Maximum input and output tokens per month (UTC).',
  'AiTokenScope.daily_usd_cap': 'Maximum USD per day (UTC), as a decimal string.',
  'AiTokenScope.monthly_usd_cap': 'Maximum USD per month (UTC), as a decimal string.',
  'AiTokenScope.max_tokens_per_call': 'Maximum output tokens of one call. The smaller of this and the agent’s limit applies.',
  'AiTokenScope.rpm': 'Maximum calls per 60 seconds.',
  'AiTokenScope.user': 'External ID of the user that the token speaks for. A different `X-Svc-User` is refused.',
  'AiTokenScope.tags': 'Labels that are added to those of the agent.',
};
