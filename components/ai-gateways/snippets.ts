import type { Snippet } from '#components/ui/code-block.tsx';

/** Where a reader puts the token. Never a real one: pages keep none. */
export const TOKEN = 'svcp_YOUR_TOKEN';

export type Tool = { id: string; label: string; about: string; snippets: readonly [Snippet, ...Snippet[]] };

type Target = { agent_url: string; model: string };

/** What each SDK and editor needs to call an agent: its base address, and a token in place of a provider's key. */
export function toolsFor({ agent_url, model }: Target): readonly [Tool, ...Tool[]] {
  const openai = `${agent_url}/v1`;
  return [
    {
      id: 'openai',
      label: 'OpenAI SDK',
      about: 'The official SDK, unmodified: only its base URL and key change.',
      snippets: [
        {
          id: 'python',
          label: 'Python',
          language: 'python',
          code: `from openai import OpenAI

client = OpenAI(base_url="${openai}", api_key="${TOKEN}")

reply = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Say hello"}],
)
print(reply.choices[0].message.content)`,
        },
        {
          id: 'node',
          label: 'Node',
          language: 'javascript',
          code: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${openai}', apiKey: '${TOKEN}' });

const reply = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Say hello' }],
});
console.log(reply.choices[0].message.content);`,
        },
      ],
    },
    {
      id: 'anthropic',
      label: 'Anthropic SDK',
      about: 'The official SDK, unmodified: only its base URL and key change.',
      snippets: [
        {
          id: 'python',
          label: 'Python',
          language: 'python',
          code: `from anthropic import Anthropic

client = Anthropic(base_url="${agent_url}", api_key="${TOKEN}")

reply = client.messages.create(
    model="${model}",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Say hello"}],
)
print(reply.content[0].text)`,
        },
        {
          id: 'node',
          label: 'Node',
          language: 'javascript',
          code: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '${agent_url}', apiKey: '${TOKEN}' });

const reply = await client.messages.create({
  model: '${model}',
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Say hello' }],
});
console.log(reply.content[0].text);`,
        },
      ],
    },
    {
      id: 'cursor',
      label: 'Cursor',
      about: 'Settings → Models → API keys: turn on “Override OpenAI Base URL”, then add the model by its name.',
      snippets: [
        {
          id: 'settings',
          label: 'Settings',
          language: 'text',
          code: `Override OpenAI Base URL   ${openai}
OpenAI API Key             ${TOKEN}
Model                      ${model}`,
        },
      ],
    },
    {
      id: 'claude-code',
      label: 'Claude Code',
      about: 'Environment variables, or the env block of ~/.claude/settings.json.',
      snippets: [
        {
          id: 'shell',
          label: 'Shell',
          language: 'bash',
          code: `export ANTHROPIC_BASE_URL="${agent_url}"
export ANTHROPIC_AUTH_TOKEN="${TOKEN}"
export ANTHROPIC_MODEL="${model}"
claude`,
        },
        {
          id: 'json',
          label: 'settings.json',
          language: 'json',
          code: JSON.stringify({ env: { ANTHROPIC_BASE_URL: agent_url, ANTHROPIC_AUTH_TOKEN: TOKEN, ANTHROPIC_MODEL: model } }, null, 2),
        },
      ],
    },
    {
      id: 'codex',
      label: 'Codex',
      about: 'In ~/.codex/config.toml. The token is in the environment.',
      snippets: [
        {
          id: 'toml',
          label: 'config.toml',
          language: 'text',
          code: `model = "${model}"
model_provider = "agent"

[model_providers.agent]
name = "agent"
base_url = "${openai}"
wire_api = "responses"
env_key = "AGENT_TOKEN"`,
        },
        { id: 'shell', label: 'Shell', language: 'bash', code: `export AGENT_TOKEN="${TOKEN}"\ncodex` },
      ],
    },
    {
      id: 'cline',
      label: 'Cline',
      about: 'Settings → API Provider: choose “OpenAI Compatible”.',
      snippets: [
        {
          id: 'settings',
          label: 'Settings',
          language: 'text',
          code: `API Provider   OpenAI Compatible
Base URL       ${openai}
API Key        ${TOKEN}
Model ID       ${model}`,
        },
      ],
    },
    {
      id: 'continue',
      label: 'Continue',
      about: 'In ~/.continue/config.yaml.',
      snippets: [
        {
          id: 'yaml',
          label: 'config.yaml',
          language: 'text',
          code: `models:
  - name: ${model}
    provider: openai
    model: ${model}
    apiBase: ${openai}
    apiKey: ${TOKEN}
    roles: [chat, edit, apply]`,
        },
      ],
    },
    {
      id: 'openai-compatible',
      label: 'OpenAI-compatible',
      about: 'Anything that takes an OpenAI base URL and key.',
      snippets: [
        {
          id: 'shell',
          label: 'Environment',
          language: 'bash',
          code: `export OPENAI_BASE_URL="${openai}"
export OPENAI_API_KEY="${TOKEN}"`,
        },
        {
          id: 'curl',
          label: 'cURL',
          language: 'bash',
          code: `curl ${openai}/chat/completions \\
  -H "Authorization: Bearer ${TOKEN}" \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: 'Say hello' }] })}'`,
        },
      ],
    },
    {
      id: 'anthropic-compatible',
      label: 'Anthropic-compatible',
      about: 'Anything that takes an Anthropic base URL and key.',
      snippets: [
        {
          id: 'shell',
          label: 'Environment',
          language: 'bash',
          code: `export ANTHROPIC_BASE_URL="${agent_url}"
export ANTHROPIC_API_KEY="${TOKEN}"`,
        },
        {
          id: 'curl',
          label: 'cURL',
          language: 'bash',
          code: `curl ${agent_url}/v1/messages \\
  -H "x-api-key: ${TOKEN}" \\
  -H 'anthropic-version: 2023-06-01' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({ model, max_tokens: 256, messages: [{ role: 'user', content: 'Say hello' }] })}'`,
        },
      ],
    },
  ];
}
