import fs from 'node:fs';
import { filesUnder } from './command.ts';
import { cycles, type Import, importsOf, withoutComments } from './imports.ts';

// Who may import whom: the table of CONTRIBUTING.md, and the few things that have one home, checked over the import graph.

const planes = ['api', 'trpc', 'oauth', 'scim', 'gateway', 'jobs', 'auth'];

/** From an area to the areas it may import, itself left out. `generated:type` allows the generated client's types and not its code. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  kernel: ['generated:type'],
  crypto: ['kernel'],
  platform: ['kernel', 'crypto', 'generated'],
  ai: ['kernel', 'crypto'],
  mcp: ['kernel', 'crypto', 'ai'],
  custody: ['kernel', 'crypto', 'platform', 'ai'],
  domain: ['kernel', 'crypto', 'platform', 'custody', 'ai', 'mcp', 'generated'],
  api: ['domain', 'kernel', 'crypto', 'platform', 'mcp', 'generated:type'],
  oauth: ['domain', 'kernel', 'crypto', 'platform', 'api', 'generated:type'],
  scim: ['domain', 'kernel', 'crypto', 'platform', 'api', 'generated:type'],
  trpc: ['api', 'auth', 'domain', 'kernel', 'platform', 'generated:type'],
  auth: ['domain', 'kernel', 'crypto', 'platform', 'api', 'trpc', 'generated:type'],
  gateway: ['domain', 'kernel', 'crypto', 'platform', 'custody', 'ai', 'mcp'],
  jobs: ['domain', 'kernel', 'platform', 'custody', 'generated:type'],
  web: ['domain', 'kernel', 'platform', 'custody'],
  app: ['components', ...planes.filter((plane) => plane !== 'gateway' && plane !== 'jobs')],
  components: ['domain', 'trpc', 'sdk', 'custody'],
  sdk: [],
};

/** Packages and builtins that only some areas may use, with the reason that the message gives. */
const restricted: readonly { name: RegExp; only: readonly string[]; type?: boolean; why: string }[] = [
  {
    name: /^(node:)?crypto$|^jose(\/|$)|^@peculiar\/x509$|^@noble\//,
    only: ['crypto', 'app', 'components', 'sdk'],
    why: 'cryptography lives in server/crypto',
  },
  { name: /^@prisma\/|^prisma(\/|$)/, only: ['platform', 'domain'], why: 'only the platform and the domain know the database client' },
  {
    name: /^(undici|axios|got|(node:)?https)$/,
    only: ['platform', 'gateway', 'sdk'],
    why: 'requests go out through server/platform/http-out',
  },
  {
    name: /^(node:)?(http2?|net|tls|dgram|dns(\/promises)?)$/,
    only: ['platform', 'gateway', 'web', 'jobs', 'sdk'],
    type: true,
    why: 'sockets belong to the platform and the gateway',
  },
  {
    name: /^(next|react|react-dom|server-only|client-only)(\/|$)/,
    only: ['app', 'components', 'web'],
    why: 'the service runs without Next and React, also in the web process, where Node loads it and not Next',
  },
  {
    name: /^(node:)?(fs|child_process|worker_threads|cluster)(\/promises)?$/,
    only: ['platform', 'crypto', 'gateway', 'web', 'jobs', 'api', 'sdk'],
    why: 'the outside world is reached through server/platform',
  },
];

/** Folders whose JSON is what customers gave: its numbers keep their digits (server/kernel/lossless-json.ts). */
const CUSTOMER_JSON =
  /^(?:server\/(?:api|trpc|crypto\/transit|custody\/(?:ai|fields|mcp|vaults)|ai|mcp|domain\/(?:ai-gateways|client-tokens|clients|crypto-keys|deliveries|encryption|explorer|mcp-servers|routes|vaults|workflows)|gateway\/(?:ai|ephemeral|mcp|templates|upstream-auth))|components\/(?:ai-gateways|clients|crypto-keys|dev-pane|encryption|explorer|logs|mcp-servers|routes|vaults|workflows))\/|^server\/gateway\/core\/echo\.ts$/;
/** The client library and the command line, without what relays bytes, works in browsers, or is made. */
const CLIENT_JSON = /^sdk\/(?!(?:agent|elements|generated)\/)/;
/** What these parse there has no number of a customer that is kept. */
const PLAIN_JSON: Readonly<Record<string, string>> = {
  'server/ai/pii/entities/credential.ts': 'judges the header of a token',
  'server/api/openapi/json-schema.ts': 'our own schemas',
  'server/trpc/explorer.ts': 'reads the type of an error',
  'server/custody/ai/prices.ts': 'the list of prices of the operator',
  'server/custody/fields/json-leaves.ts': 'unquotes one string',
  'server/custody/mcp/grants.ts': 'tokens of OAuth, which we sealed',
  'server/domain/deliveries/calls.ts': 'what we sealed: the body in it is a text, and parsed by the module',
  'server/domain/encryption/leaves.ts': 'unquotes strings, and judges whether a text is JSON',
  'server/domain/routes/examples/assertions.shared.ts': 'compares an answer and keeps nothing of it',
  'server/domain/routes/payload-capture/reveal.ts': 'what we sealed: the body in it is a text',
  'server/gateway/ai/answer/outline.ts': 'counts of usage, read from bytes that go on as they are',
  'server/gateway/ai/upstream/exchanged-credential.ts': 'credentials, and when they end',
  'server/gateway/ai/upstream/provider-credential.ts': 'credentials, which are strings',
  'server/gateway/ephemeral/templates/json-strings.ts': 'unquotes one string',
  'server/gateway/templates/json-bytes.ts': 'unquotes one string',
  'server/gateway/upstream-auth/aws.ts': 'credentials, which are strings',
  'server/mcp/sessions.ts': 'what we sealed',
  'components/clients/current-address.ts': 'our own answer about sessions',
  'components/dev-pane/shell/line-history.ts': 'lines that were typed',
  'components/dev-pane/shell/redact-line.ts': 'judges a line and keeps nothing of it',
  'components/encryption/snippets.ts': 'code that is shown',
  'components/explorer/draft.ts': 'a link, which the form reads field by field',
  'components/explorer/use-explorer.ts': 'our own API document',
  'components/logs/use-tail.ts': 'rows of the log, which has no JSON of customers',
  'components/ai-gateways/settings-fields.ts': 'judges whether a text is JSON; the form reads what it saves by parseExact',
  'components/mcp-servers/tool-sheet.tsx': 'argument rules, which compare doubles',
  'sdk/cli/config/state.ts': 'our own file of IDs and names',
  'sdk/cli/profiles.ts': 'our own file of credentials',
  'sdk/intercept/intercept.ts': 'reads the type of an error',
  'sdk/intercept/manifest.ts': 'our own list of routes, which has no JSON of customers',
  'sdk/oauth.ts': 'tokens of OAuth, and when they end',
};

const codeRules: readonly { pattern: RegExp; applies: (file: string) => boolean; why: string }[] = [
  {
    pattern: /\bprocess\.env\b/,
    applies: (file) =>
      file !== 'server/platform/env.ts' && !/^sdk\/(?:settings|agent\/settings|cli\/(?:process-terminal|browser))\.ts$/.test(file),
    why: 'settings are read in server/platform/env.ts only',
  },
  {
    pattern: /\.toLocaleString\(|\bIntl\.NumberFormat\(/,
    applies: (file) => file.startsWith('components/') && file !== 'components/ui/numbers.ts',
    why: 'numbers are written by components/ui/numbers.ts',
  },
  {
    pattern: /from 're2js'/,
    applies: (file) => file !== 'server/ai/patterns/compile.ts',
    why: 'patterns are compiled by server/ai/patterns/compile.ts, which counts their work first',
  },
  {
    pattern: /\.toLocaleString\('en/,
    applies: (file) => file.startsWith('server/') && file !== 'server/kernel/numbers.ts' && !file.endsWith('.test.ts'),
    why: 'numbers in messages are written by server/kernel/numbers.ts',
  },
  {
    pattern: /\bJSON\.parse\(|(?<!\bz)\.json\(\)/,
    applies: (file) =>
      (CUSTOMER_JSON.test(file) || CLIENT_JSON.test(file)) && PLAIN_JSON[file] === undefined && !/\.(?:test|fixture)\.ts$/.test(file),
    why: 'JSON of customers is parsed by server/kernel/lossless-json.ts, which keeps numbers; a file that keeps none of them stands in PLAIN_JSON with its reason',
  },
  { pattern: /\bMath\.random\(/, applies: (file) => file.startsWith('server/'), why: 'randomness comes from server/crypto' },
  {
    // Two files of the kernel are loaded by pages too, which have no server/crypto.
    pattern: /\bcrypto\.(subtle|getRandomValues|randomUUID)\b/,
    applies: (file) => file.startsWith('server/') && areaOf(file) !== 'crypto' && !/^server\/kernel\/(?:ids|json-strings)\.ts$/.test(file),
    why: 'cryptography lives in server/crypto',
  },
  {
    pattern: /(?<![.#\w]|function )fetch\(/,
    applies: (file) => file.startsWith('server/') && areaOf(file) !== 'platform',
    why: 'requests go out through server/platform/http-out',
  },
  {
    pattern: /^(?:(?:export )?(?:const|let) .*= )?await /,
    // Entries alone are nobody's import.
    applies: (file) => file.startsWith('server/') && file !== 'server/web.ts',
    why: 'pages load the server by require (scripts/server-loader.mjs), which takes no module that waits at its top',
  },
];

/** All violations in the checkout, one sentence each; empty when the house is in order. */
export function boundaryViolations(): string[] {
  const files = ['server', 'app', 'components', 'sdk'].flatMap(filesUnder).filter((file) => /\.(ts|tsx)$/.test(file));
  const checked = files.filter((file) => !isTest(file));
  const graph = new Map<string, string[]>();
  const loads = new Map<string, readonly Import[]>();
  const violations: string[] = [];
  for (const file of checked) {
    const source = fs.readFileSync(file, 'utf8');
    const imports = importsOf(file, source);
    graph.set(
      file,
      // Types count too: two files that need each other's shapes are one idea, or miss a third.
      imports.flatMap(({ own, target }) => (own ? [target] : [])),
    );
    loads.set(
      file,
      imports.filter(({ type }) => !type),
    );
    for (const found of imports) {
      const why = whyForbidden(file, found);
      if (why) violations.push(`${file}:${found.line} imports ${found.target}: ${why}`);
    }
    violations.push(...codeViolations(file, source));
  }
  for (const circle of cycles(graph)) violations.push(`import cycle: ${circle.join(', ')}`);
  violations.push(...folderCycles(graph), ...heavyShared(loads), ...heavyGateway(loads));
  return violations;
}

/** Families that need each other, directly or by way of others, can't be read, tested or moved apart. Folders of the gateway alike; types count. */
export function folderCycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const imported = new Map<string, Map<string, string>>();
  for (const [file, targets] of graph) {
    const from = folderOf(file);
    if (from === undefined) continue;
    const to = imported.get(from) ?? new Map<string, string>();
    imported.set(from, to);
    for (const target of targets) {
      const folder = folderOf(target);
      if (folder !== undefined && folder !== from && !to.has(folder)) to.set(folder, `${file} imports ${target}`);
    }
  }
  const folders = new Map([...imported].map(([folder, to]) => [folder, [...to.keys()]]));
  return cycles(folders).map((circle) => {
    const examples = circle.flatMap((from) => circle.flatMap((to) => imported.get(from)?.get(to) ?? []));
    return `cycle of folders: ${circle.join(', ')}: ${examples.join('; ')}`;
  });
}

/** The family, or the folder of the gateway, that a file lies in; undefined for the files beside these folders, which wire them. */
const folderOf = (file: string) => /^server\/(?:domain|gateway)\/[^/]+(?=\/)/.exec(file)?.[0];

/** Packages of shared files, and of what these load: by file where only one may. ipaddr.js has 4 KB, croner 10 KB. */
const LIGHT_PACKAGES: Readonly<Record<string, string | undefined>> = { croner: 'server/domain/workflows/cron.shared.ts' };
const isLight = (file: string, name: string) => name === 'ipaddr.js' || LIGHT_PACKAGES[name] === file;

/** Shared files exist so that a page need not load a validator for a constant: none loads a package, directly or through the kernel, but light ones. */
export function heavyShared(loads: ReadonlyMap<string, readonly Import[]>): string[] {
  const found = (file: string, own: boolean) =>
    (loads.get(file) ?? []).filter((one) => one.own === own && !isLight(file, one.target)).map(({ target }) => target);
  return [...loads.keys()].filter(isShared).flatMap((start) => {
    const reached = new Set([start]);
    for (const file of reached) for (const target of found(file, true)) reached.add(target);
    return [...reached].flatMap((file) =>
      found(file, false).map((name) => `${start} loads ${name} by ${file}: a shared file has no packages`),
    );
  });
}

/** The gateway starts fast and serves without the rest: neither it nor a hot operation loads Prisma, Next, or the operation table. */
export function heavyGateway(loads: ReadonlyMap<string, readonly Import[]>): string[] {
  return ['server/gateway/main.ts', HOT_OPERATIONS].flatMap((start) => {
    const loadedBy = new Map<string, string>([[start, start]]);
    const found: string[] = [];
    for (const [file, way] of loadedBy) {
      for (const { own, target } of loads.get(file) ?? []) {
        if (own ? NOT_IN_GATEWAY.test(target) : /^(?:@prisma\/|prisma$|(?:next|react|react-dom)(?:\/|$))/.test(target))
          found.push(`${way} loads ${target}: the gateway runs without Prisma, Next and the operation table`);
        else if (own && !loadedBy.has(target)) loadedBy.set(target, `${way} > ${target}`);
      }
    }
    return found;
  });
}

const NOT_IN_GATEWAY =
  /^server\/(?:generated\/|domain\/families\.ts$|domain\/.*(?:^|\/)(?:operations|family)\.ts$|api\/operations\.ts$|platform\/db\.ts$)/;

/** Why this file may not have this import; undefined when it may. */
export function whyForbidden(file: string, { target, own, type }: Import): string | undefined {
  const from = areaOf(file);
  if (!own) return whyPackageForbidden(file, from, target, type);
  if (isTest(target)) return 'tests and their harness are not part of the product';
  const to = areaOf(target);
  if (isSchema(file) && !isSchema(target) && !isShared(target) && to !== 'kernel')
    return 'a schema is isomorphic: zod, kernel, shared files and other schemas only';
  if (isShared(file) && !isShared(target) && to !== 'kernel') return 'a shared file is isomorphic: kernel and other shared files only';
  if (target === FAMILIES && (from === 'domain' || from === 'gateway' || from === 'platform'))
    return 'the list of families stands above the domain: an operation has it as its third argument, a job passes it on';
  if (from === to)
    return from === 'domain' ? whyFamilyForbidden(file, target) : from === 'gateway' ? whyGatewayForbidden(file, target) : undefined;
  if (from === 'gateway' && to === 'api' && /^server\/gateway\/(?:v1|credentials|oauth)\//.test(file)) return undefined;
  if (from === 'gateway' && to === 'oauth' && file.startsWith('server/gateway/oauth/')) return undefined;
  const rights = allowed[from];
  if (!rights) return undefined;
  if (to === 'generated')
    return rights.includes('generated') || (type && rights.includes('generated:type'))
      ? undefined
      : 'only the platform and the domain know the database client';
  // The dashboard reads JSON of customers by the same module, so that a form sends back the digits it was shown.
  if (from === 'components' && /^server\/kernel\/(?:lossless-(?:json|number)|plain-json)\.ts$/.test(target)) return undefined;
  // So do the client library and the command line.
  if (from === 'sdk' && (target === 'server/kernel/lossless-json.ts' || target === 'server/kernel/json-text.ts')) return undefined;
  if (!rights.includes(to))
    return `${from} may import only ${rights.filter((right) => !right.startsWith('generated')).join(', ') || 'zod'}`;
  if (from === 'components' && to === 'domain' && !isSchema(target) && !isShared(target))
    return 'components may import only schema.ts and *.shared.ts of the domain';
  if (from === 'components' && to === 'custody' && target !== 'server/custody/fields/selectors.ts')
    return 'components may import only the grammar of selectors from custody, which has no imports';
  if (from === 'components' && to === 'sdk' && !target.startsWith('sdk/elements/'))
    return 'components may import only sdk/elements, which is made for browsers';
  if (from === 'components' && to === 'trpc' && !type) return 'components may import only types from trpc';
  if (from === 'gateway' && to === 'domain' && /\/(service|store|operations|family)\.ts$/.test(target))
    return 'the data plane uses schemas and pure rules of the domain, not its verbs';
  return undefined;
}

/** What every plane may import. */
const BELOW = ['core', 'snapshot', 'credentials'];
/** What planes need whose calls go by a route. */
const BY_ROUTE = [...BELOW, 'templates', 'upstream-auth'];
/** From a folder of the gateway to the folders it may import. Any other folder is a plane. */
const GATEWAY_FOLDERS: Readonly<Record<string, readonly string[]>> = {
  snapshot: [],
  credentials: [],
  core: ['snapshot', 'credentials'],
  'upstream-auth': [...BELOW, 'templates'],
  route: BY_ROUTE,
  ephemeral: [...BELOW, 'templates'],
  governance: BY_ROUTE,
  ai: [...BY_ROUTE, 'governance'],
  mcp: [...BY_ROUTE, 'governance'],
  oauth: ['core', 'credentials', 'v1'],
  elements: ['core', 'snapshot'],
  'front-door': ['core', 'v1', 'oauth', 'elements'],
};

/** Planes use the core, which knows no plane; the files of server/gateway itself wire them. */
function whyGatewayForbidden(file: string, target: string): string | undefined {
  const folder = (name: string) => name.split('/').slice(2, -1)[0];
  const [from, to] = [folder(file), folder(target)];
  if (from === undefined || from === to) return undefined;
  if (to === undefined) return 'only assemble.ts and its neighbours wire the gateway';
  const rights = GATEWAY_FOLDERS[from] ?? BELOW;
  return rights.includes(to) ? undefined : `gateway/${from} may import only ${rights.join(', ') || 'no other folder'} of the gateway`;
}

/** zod describes every wire. ipaddr.js parses addresses, which the gateway, the API and the forms must all read the same way; tldts knows public suffixes. */
const KERNEL_PACKAGES = /^(zod|ipaddr\.js|tldts|node:)/;

function whyPackageForbidden(file: string, from: string, name: string, type: boolean): string | undefined {
  if (isSchema(file)) return name === 'zod' ? undefined : 'a schema is isomorphic: zod, kernel, shared files and other schemas only';
  if (LIGHT_PACKAGES[name]) return isLight(file, name) ? undefined : `only ${LIGHT_PACKAGES[name]} loads ${name}`;
  if (isShared(file)) return 'a shared file has no packages';
  if (from === 'kernel' && name.startsWith('@prisma/') && type) return undefined;
  if (from === 'kernel' && !KERNEL_PACKAGES.test(name)) return 'the kernel may load no packages but zod, ipaddr.js and tldts';
  for (const rule of restricted) {
    if (rule.name.test(name) && !rule.only.includes(from) && !(rule.type && type)) return rule.why;
  }
  return undefined;
}

/** The one list of descriptors. */
const FAMILIES = 'server/domain/families.ts';
const HOT_OPERATIONS = 'server/domain/hot-operations.ts';

/** Rules without a database, shared by families, the gateway and tests. */
const PURE = /\/domain\/(templates\/grammar|tenants\/addresses|routes\/effective|request-logs\/buckets|mail\/templates)/;

/** Another family is used through its verbs or its wire, never through its queries. */
function whyFamilyForbidden(file: string, target: string): string | undefined {
  const family = (name: string) => name.split('/')[2];
  if (/\/family\.ts$/.test(target))
    return file === FAMILIES ? undefined : 'a descriptor is imported by server/domain/families.ts alone: read what you need from that list';
  if (/\/hot\.ts$/.test(target) && file === HOT_OPERATIONS) return undefined;
  if (family(file) === family(target) || /\/service\.ts$/.test(target) || isSchema(target) || isShared(target) || PURE.test(target))
    return undefined;
  return 'another family is used through its service.ts, schema.ts or a shared file';
}

/** Every rule about the text itself that the file breaks, with the line. */
export function codeViolations(file: string, source: string): string[] {
  const lines = withoutComments(source).split('\n');
  return codeRules
    .filter((rule) => rule.applies(file))
    .flatMap(({ pattern, why }) => lines.flatMap((line, at) => (pattern.test(line) ? [`${file}:${at + 1} ${why}`] : [])));
}

/** `server/domain/clients/service.ts` is in domain, `server/web.ts` in web, `app/x/page.tsx` in app. */
export function areaOf(file: string): string {
  const [top = '', second = ''] = file.split('/');
  return top === 'server' ? second.replace(/\.ts$/, '') : top;
}

/** Tests, and what only tests and tools load of a family. */
export function isTest(file: string): boolean {
  return (
    /\.(test|fixture)\.tsx?$/.test(file) ||
    file.startsWith('server/testing/') ||
    /^(server\/domain|components)\/[^/]+\/(bench|samples|seed)\.ts$/.test(file)
  );
}

/** The wire: what zod checks, wherever it runs. */
function isSchema(file: string): boolean {
  return /^server\/domain\/.*[/.]schema\.ts$/.test(file);
}

/** Values and rules that pages and the service have in common, safe and light in a browser. */
function isShared(file: string): boolean {
  return /^server\/domain\/.*\.shared\.ts$/.test(file);
}
