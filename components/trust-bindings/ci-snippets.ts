import type { Snippet } from '#components/ui/code-block.tsx';

type Asked = { authUrl: string; slug: string; audience: string };

/** How a pipeline gets its access token, by platform. */
export function ciSnippets({ authUrl, slug, audience }: Asked): [Snippet, ...Snippet[]] {
  const exchange = (indent: string, token: string, end = '') =>
    [
      `curl -sS ${authUrl}/oauth/token \\`,
      '  -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange \\',
      '  -d subject_token_type=urn:ietf:params:oauth:token-type:id_token \\',
      `  ${token} \\`,
      `  -d tenant=${slug}${end}`,
    ].join(`\n${indent}`);
  return [
    {
      id: 'github',
      label: 'GitHub Actions',
      language: 'bash',
      code: `permissions:
  id-token: write

steps:
  - name: Get an access token
    run: |
      ID_TOKEN=$(curl -sS -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \\
        "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=${audience}" | jq -r .value)
      ACCESS_TOKEN=$(${exchange('      ', '-d subject_token="$ID_TOKEN"', ' | jq -r .access_token)')}
      echo "::add-mask::$ACCESS_TOKEN"
      echo "ACCESS_TOKEN=$ACCESS_TOKEN" >> "$GITHUB_ENV"`,
    },
    {
      id: 'gitlab',
      label: 'GitLab',
      language: 'bash',
      code: `deploy:
  id_tokens:
    ID_TOKEN:
      aud: ${audience}
  script:
    - |
      ACCESS_TOKEN=$(${exchange('      ', '-d subject_token="$ID_TOKEN"', ' | jq -r .access_token)')}`,
    },
    {
      id: 'kubernetes',
      label: 'Kubernetes',
      language: 'bash',
      code: `# in the pod, with a mount of the volume at /var/run/secrets/sallyport
volumes:
  - name: sallyport
    projected:
      sources:
        - serviceAccountToken:
            path: token
            audience: ${audience}
            expirationSeconds: 3600`,
    },
    {
      id: 'curl',
      label: 'cURL',
      language: 'bash',
      code: exchange('', '--data-urlencode subject_token@/var/run/secrets/sallyport/token'),
    },
  ];
}
