import type { Snippet } from '#components/ui/code-block.tsx';

const TOKEN = 'svcp_YOUR_TOKEN';
type Client = { id: string; label: string; about: string; snippets: readonly [Snippet, ...Snippet[]] };

const json = (value: object) => JSON.stringify(value, null, 2);

/** What each editor needs to use a server. */
export function clientsFor({ connect_url: url, slug }: { connect_url: string; slug: string }): readonly [Client, ...Client[]] {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  return [
    {
      id: 'claude-code',
      label: 'Claude Code',
      about: 'Without the header, Claude Code opens the browser to sign you in.',
      snippets: [
        {
          id: 'shell',
          label: 'Shell',
          language: 'bash',
          code: `claude mcp add --transport http ${slug} ${url} \\\n  --header "Authorization: Bearer ${TOKEN}"`,
        },
        { id: 'json', label: '.mcp.json', language: 'json', code: json({ mcpServers: { [slug]: { type: 'http', url, headers } } }) },
      ],
    },
    {
      id: 'cursor',
      label: 'Cursor',
      about: 'In .cursor/mcp.json of a project, or ~/.cursor/mcp.json.',
      snippets: [{ id: 'json', label: 'mcp.json', language: 'json', code: json({ mcpServers: { [slug]: { url, headers } } }) }],
    },
    {
      id: 'vscode',
      label: 'VS Code',
      about: 'In .vscode/mcp.json of a workspace.',
      snippets: [{ id: 'json', label: 'mcp.json', language: 'json', code: json({ servers: { [slug]: { type: 'http', url, headers } } }) }],
    },
    {
      id: 'windsurf',
      label: 'Windsurf',
      about: 'In ~/.codeium/windsurf/mcp_config.json.',
      snippets: [
        { id: 'json', label: 'mcp_config.json', language: 'json', code: json({ mcpServers: { [slug]: { serverUrl: url, headers } } }) },
      ],
    },
    {
      id: 'generic',
      label: 'Other clients',
      about: 'Anything that speaks Streamable HTTP.',
      snippets: [{ id: 'json', label: 'JSON', language: 'json', code: json({ mcpServers: { [slug]: { type: 'http', url, headers } } }) }],
    },
    {
      id: 'curl',
      label: 'cURL',
      about: 'Lists the tools that the token may use.',
      snippets: [
        {
          id: 'curl',
          label: 'cURL',
          language: 'bash',
          code: `curl ${url} \\\n  -H "Authorization: Bearer ${TOKEN}" \\\n  -H 'Content-Type: application/json' \\\n  -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/list' \\\n  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'`,
        },
      ],
    },
  ];
}
