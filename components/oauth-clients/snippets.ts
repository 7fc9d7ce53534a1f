import type { Snippet } from '#components/ui/code-block.tsx';
import { DEVICE_CODE, TOKEN_EXCHANGE } from '#server/domain/oauth-clients/grants.shared.ts';
import type { Detail } from './client-labels.ts';

type Of = Pick<Detail, 'client_id' | 'type' | 'grant_types' | 'allowed_scopes' | 'redirect_uris'>;
export type Usage = { id: string; title: string; text: string; snippets: [Snippet, ...Snippet[]] };

/** How the client gets a token, one part per grant that starts something, in three languages. `authUrl` is the root of the API's host. */
export function usagesOf(client: Of, authUrl: string): Usage[] {
  const has = (grant: string) => (client.grant_types as readonly string[]).includes(grant);
  return [
    ...(has('client_credentials') ? [clientCredentials(client, authUrl)] : []),
    ...(has('authorization_code') ? [browserLogin(client, authUrl)] : []),
    ...(has(DEVICE_CODE) ? [deviceCode(client, authUrl)] : []),
    ...(has(TOKEN_EXCHANGE) ? [tokenExchange(client, authUrl)] : []),
  ];
}

/** A variable of the environment in a program of Node.js. */
const env = (name: string): string => ['process', 'env', name].join('.');

/** One scope as an example: the narrowest call to begin with. */
const scopeOf = ({ allowed_scopes }: Of): string =>
  allowed_scopes.find((scope) => scope.endsWith(':read')) ?? allowed_scopes[0] ?? 'routes:read';

function clientCredentials(client: Of, authUrl: string): Usage {
  const scope = scopeOf(client);
  return {
    id: 'client_credentials',
    title: 'Get a token',
    text: 'Set CLIENT_SECRET in the environment. The token works for an hour; get another when it ends.',
    snippets: [
      {
        id: 'curl',
        label: 'cURL',
        language: 'bash',
        code: `curl ${authUrl}/oauth/token \\\n  -u "${client.client_id}:$CLIENT_SECRET" \\\n  -d grant_type=client_credentials \\\n  -d scope=${scope}`,
      },
      {
        id: 'node',
        label: 'Node.js',
        language: 'javascript',
        code: `const response = await fetch("${authUrl}/oauth/token", {
  method: "POST",
  headers: {
    Authorization: "Basic " + btoa("${client.client_id}:" + ${env('CLIENT_SECRET')}),
  },
  body: new URLSearchParams({ grant_type: "client_credentials", scope: "${scope}" }),
});
const { access_token } = await response.json();`,
      },
      {
        id: 'python',
        label: 'Python',
        language: 'python',
        code: `import base64, json, os, urllib.parse, urllib.request

credentials = "${client.client_id}:" + os.environ["CLIENT_SECRET"]
request = urllib.request.Request(
    "${authUrl}/oauth/token",
    data=urllib.parse.urlencode({"grant_type": "client_credentials", "scope": "${scope}"}).encode(),
    headers={"Authorization": "Basic " + base64.b64encode(credentials.encode()).decode()},
)
access_token = json.load(urllib.request.urlopen(request))["access_token"]`,
      },
    ],
  };
}

function browserLogin(client: Of, authUrl: string): Usage {
  const redirect = client.redirect_uris[0] ?? 'https://app.example.com/callback';
  const secret = client.type === 'confidential';
  const scope = scopeOf(client);
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirect,
    scope,
    code_challenge_method: 'S256',
  });
  return {
    id: 'authorization_code',
    title: 'Sign a person in',
    text: 'Send the person to the first address with a fresh PKCE challenge, then exchange the code that comes back. The code works once, for a minute.',
    snippets: [
      {
        id: 'curl',
        label: 'cURL',
        language: 'bash',
        code: `VERIFIER=$(openssl rand -base64 48 | tr '+/' '-_' | tr -d '=\\n')
CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | base64 | tr '+/' '-_' | tr -d '=')
echo "${authUrl}/oauth/authorize?${query.toString()}&code_challenge=$CHALLENGE"

# after the person agreed, with the code of the address they came back to:
curl ${authUrl}/oauth/token \\
  ${secret ? `-u "${client.client_id}:$CLIENT_SECRET"` : `-d client_id=${client.client_id}`} \\
  -d grant_type=authorization_code \\
  -d code="$CODE" \\
  -d code_verifier="$VERIFIER" \\
  --data-urlencode redirect_uri=${redirect}`,
      },
      {
        id: 'node',
        label: 'Node.js',
        language: 'javascript',
        code: `// npm install openid-client
import * as oauth from "openid-client";

const config = await oauth.discovery(
  new URL("${authUrl}"),
  "${client.client_id}",
  undefined,
  ${secret ? `oauth.ClientSecretBasic(${env('CLIENT_SECRET')})` : 'oauth.None()'},
  { algorithm: "oauth2" },
);
const verifier = oauth.randomPKCECodeVerifier();
const state = oauth.randomState();
const address = oauth.buildAuthorizationUrl(config, {
  redirect_uri: "${redirect}",
  scope: "${scope}",
  state,
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: "S256",
});
// Send the person to \`address\`. With the URL they come back to:
const tokens = await oauth.authorizationCodeGrant(config, returnedUrl, {
  pkceCodeVerifier: verifier,
  expectedState: state,
});`,
      },
      {
        id: 'python',
        label: 'Python',
        language: 'python',
        code: `# pip install authlib requests
${secret ? 'import os\n\n' : ''}from authlib.integrations.requests_client import OAuth2Session

session = OAuth2Session(
    "${client.client_id}",
${secret ? '    os.environ["CLIENT_SECRET"],\n' : '    token_endpoint_auth_method="none",\n'}    redirect_uri="${redirect}",
    scope="${scope}",
    code_challenge_method="S256",
)
verifier = "at least 43 random characters, new for every login"
address, state = session.create_authorization_url("${authUrl}/oauth/authorize", code_verifier=verifier)
# Send the person to \`address\`. With the URL they come back to:
token = session.fetch_token("${authUrl}/oauth/token", authorization_response=returned_url, code_verifier=verifier)`,
      },
    ],
  };
}

function deviceCode(client: Of, authUrl: string): Usage {
  const scope = scopeOf(client);
  const basic = client.type === 'confidential';
  return {
    id: 'device_code',
    title: 'Sign in without a browser',
    text: 'Show the person the user code and the address. Ask for the token every five seconds until they have agreed.',
    snippets: [
      {
        id: 'curl',
        label: 'cURL',
        language: 'bash',
        code: `curl ${authUrl}/oauth/device_authorization \\
  ${basic ? `-u "${client.client_id}:$CLIENT_SECRET"` : `-d client_id=${client.client_id}`} \\
  -d scope=${scope}

curl ${authUrl}/oauth/token \\
  ${basic ? `-u "${client.client_id}:$CLIENT_SECRET"` : `-d client_id=${client.client_id}`} \\
  -d grant_type=${DEVICE_CODE} \\
  -d device_code="$DEVICE_CODE"`,
      },
      {
        id: 'node',
        label: 'Node.js',
        language: 'javascript',
        code: `// npm install openid-client
import * as oauth from "openid-client";

const config = await oauth.discovery(
  new URL("${authUrl}"),
  "${client.client_id}",
  undefined,
  ${basic ? `oauth.ClientSecretBasic(${env('CLIENT_SECRET')})` : 'oauth.None()'},
  { algorithm: "oauth2" },
);
const device = await oauth.initiateDeviceAuthorization(config, { scope: "${scope}" });
console.log(\`Open \${device.verification_uri} and enter \${device.user_code}\`);
const tokens = await oauth.pollDeviceAuthorizationGrant(config, device);`,
      },
      {
        id: 'python',
        label: 'Python',
        language: 'python',
        code: `import json, ${basic ? 'os, ' : ''}time, urllib.error, urllib.parse, urllib.request

client = {"client_id": "${client.client_id}"${basic ? ', "client_secret": os.environ["CLIENT_SECRET"]' : ''}}

def post(path, **form):
    data = urllib.parse.urlencode({**client, **form}).encode()
    return json.load(urllib.request.urlopen("${authUrl}" + path, data))

device = post("/oauth/device_authorization", scope="${scope}")
print("Open", device["verification_uri"], "and enter", device["user_code"])
while True:
    time.sleep(device["interval"])
    try:
        token = post("/oauth/token", grant_type="${DEVICE_CODE}", device_code=device["device_code"])
        break
    except urllib.error.HTTPError as refused:
        problem = json.load(refused)["error"]
        if problem == "slow_down":
            device["interval"] += 5
        elif problem != "authorization_pending":
            raise`,
      },
    ],
  };
}

function tokenExchange(client: Of, authUrl: string): Usage {
  const scope = scopeOf(client);
  const form = {
    grant_type: TOKEN_EXCHANGE,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    client_id: client.client_id,
    scope,
  };
  const json = (indent: string) =>
    Object.entries(form)
      .map(([name, value]) => `${indent}${name}: "${value}",`)
      .join('\n');
  return {
    id: 'token_exchange',
    title: 'Exchange a workload token',
    text: 'WORKLOAD_TOKEN is the token that the platform gives the job. Add a trust binding that accepts it first.',
    snippets: [
      {
        id: 'curl',
        label: 'cURL',
        language: 'bash',
        code: `curl ${authUrl}/oauth/token \\\n${Object.entries(form)
          .map(([name, value]) => `  -d ${name}=${value} \\`)
          .join('\n')}\n  -d subject_token="$WORKLOAD_TOKEN"`,
      },
      {
        id: 'node',
        label: 'Node.js',
        language: 'javascript',
        code: `const response = await fetch("${authUrl}/oauth/token", {
  method: "POST",
  body: new URLSearchParams({
${json('    ')}
    subject_token: ${env('WORKLOAD_TOKEN')},
  }),
});
const { access_token } = await response.json();`,
      },
      {
        id: 'python',
        label: 'Python',
        language: 'python',
        code: `import json, os, urllib.parse, urllib.request

form = {
${Object.entries(form)
  .map(([name, value]) => `    "${name}": "${value}",`)
  .join('\n')}
    "subject_token": os.environ["WORKLOAD_TOKEN"],
}
data = urllib.parse.urlencode(form).encode()
access_token = json.load(urllib.request.urlopen("${authUrl}/oauth/token", data))["access_token"]`,
      },
    ],
  };
}
