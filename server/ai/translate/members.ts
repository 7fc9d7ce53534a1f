import type { ClientShape, UpstreamShape } from './shapes.ts';

/** What becomes of a member: `dropped` changes no meaning of the call; `refused` does, and the target has nothing like it. */
export type Fate = 'same' | 'translated' | 'dropped' | 'refused';
/** A member that isn't listed is `refused`: what it means is unknown. */
export type Fates = ReadonlyMap<string, Fate>;

const fates = (rows: Readonly<Record<Fate, string>>): Fates =>
  new Map((Object.entries(rows) as [Fate, string][]).flatMap(([fate, names]) => names.split(' ').map((name) => [name, fate] as const)));

const CHAT_DROPPED = 'metadata prediction prompt_cache_key prompt_cache_options prompt_cache_retention seed service_tier store verbosity';
const CHAT_REFUSED =
  'audio frequency_penalty function_call functions logit_bias logprobs modalities moderation n presence_penalty top_logprobs web_search_options';
const CHAT_TRANSLATED =
  'messages max_completion_tokens max_tokens parallel_tool_calls reasoning_effort response_format safety_identifier stop stream_options temperature tool_choice tools user';

const RESPONSES_DROPPED =
  'access_programs client_metadata context_management metadata prompt_cache_key prompt_cache_options prompt_cache_retention service_tier store stream_options';
const RESPONSES_REFUSED = 'background conversation image max_tool_calls moderation previous_response_id prompt top_logprobs truncation';
const RESPONSES_TRANSLATED =
  'include input instructions max_output_tokens parallel_tool_calls reasoning safety_identifier temperature text tool_choice tools user';

const MESSAGES_DROPPED =
  'betas billing_policy cache_control context_management diagnostics fallback_credit_token service_tier speed user_profile_id workspace_id';
const MESSAGES_REFUSED = 'compaction container fallbacks inference_geo mcp_servers thread';
const MESSAGES_TRANSLATED = 'max_tokens messages metadata output_config output_format stop_sequences system thinking tool_choice tools';

/** For each target, every member of every shape that is translated into it. */
export const MEMBERS: Readonly<Record<UpstreamShape, Partial<Record<ClientShape, Fates>>>> = {
  'openai-chat': {
    anthropic: fates({
      same: 'model stream temperature top_p',
      translated: MESSAGES_TRANSLATED,
      dropped: MESSAGES_DROPPED,
      refused: `${MESSAGES_REFUSED} top_k`,
    }),
    'openai-responses': fates({
      same: 'model stream top_p',
      translated: RESPONSES_TRANSLATED,
      dropped: RESPONSES_DROPPED,
      refused: RESPONSES_REFUSED,
    }),
  },
  anthropic: {
    'openai-chat': fates({
      same: 'model stream top_p',
      translated: CHAT_TRANSLATED,
      dropped: CHAT_DROPPED,
      refused: CHAT_REFUSED,
    }),
    'openai-responses': fates({
      same: 'model stream top_p',
      translated: RESPONSES_TRANSLATED,
      dropped: RESPONSES_DROPPED,
      refused: RESPONSES_REFUSED,
    }),
  },
  'bedrock-converse': {
    'openai-chat': fates({
      same: '',
      translated: `${CHAT_TRANSLATED} model stream top_p`,
      dropped: CHAT_DROPPED,
      refused: CHAT_REFUSED,
    }),
    anthropic: fates({
      same: '',
      translated: `${MESSAGES_TRANSLATED} model stream temperature top_k top_p`,
      dropped: MESSAGES_DROPPED,
      refused: MESSAGES_REFUSED,
    }),
    'openai-responses': fates({
      same: '',
      translated: `${RESPONSES_TRANSLATED} model stream top_p`,
      dropped: RESPONSES_DROPPED,
      refused: RESPONSES_REFUSED,
    }),
  },
};
