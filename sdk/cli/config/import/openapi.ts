import { CliError } from '../../exit.ts';
import { freeName, type Imported, listOf, objectOf, referTo, type Source, secretNameOf, slugOf, textOf } from './source.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/** A route for each server of an OpenAPI 3 description: its methods, and a secret for each security scheme. @throws CliError when it is none */
export function fromOpenApi(value: unknown): Imported {
  const document = objectOf(value);
  if (document.swagger !== undefined)
    throw new CliError('The file is a Swagger 2 description.', { next_step: 'Convert it to OpenAPI 3 first.' });
  if (!/^3\./.test(textOf(document.openapi))) throw new CliError('The file is not an OpenAPI 3 description.');
  const imported: Imported = { secrets: [], clients: [], routes: [], warnings: [] };
  const title = textOf(objectOf(document.info).title).replace(/\s+/g, ' ').trim().slice(0, 60) || 'API';
  const servers = listOf(document.servers).flatMap((server, at) => serverOf(objectOf(server), at, imported.warnings));
  if (servers.length === 0)
    throw new CliError('The description has no server with an absolute address.', {
      next_step: 'Add one to servers, such as url: https://api.example.com.',
    });
  const injected = injectionsOf(document, title, imported);
  const methods = methodsOf(document);
  const [names, slugs] = [new Set<string>(), new Set<string>()];
  for (const { url, label } of servers) {
    const name = freeName(servers.length === 1 ? title : `${title} (${label})`.slice(0, 95), names);
    imported.routes.push({
      name,
      slug: freeName(slugOf(name) || 'api', slugs, '-'),
      target_base_url: url,
      ...injected,
      ...(methods.length > 0 ? { allowed_methods: methods } : {}),
    });
  }
  if (methods.length === 0) imported.warnings.push('paths: there are no operations, so all methods are allowed.');
  imported.warnings.push(
    `paths: a route forwards every path below its target, not only the ${Object.keys(objectOf(document.paths)).length} that are described.`,
  );
  for (const part of ['webhooks', 'callbacks']) if (document[part] !== undefined) imported.warnings.push(`${part}: left out.`);
  return imported;
}

function serverOf(server: Source, at: number, warnings: string[]): { url: string; label: string }[] {
  const variables = objectOf(server.variables);
  const url = textOf(server.url).replace(/\{([^{}]{1,100})\}/g, (whole, name: string) =>
    Object.hasOwn(variables, name) ? textOf(objectOf(variables[name]).default) : whole,
  );
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || /[{}]/.test(url)) {
    warnings.push(`servers[${at}]: ${url.slice(0, 100)} is not an absolute address and was left out.`);
    return [];
  }
  for (const name of Object.keys(variables)) warnings.push(`servers[${at}].variables.${name}: its default is used.`);
  if (parsed.protocol === 'http:') warnings.push(`servers[${at}]: http sends secrets in clear; most installations only allow https.`);
  if (parsed.search || parsed.hash || parsed.username)
    warnings.push(`servers[${at}]: the query, fragment or login of its address was left out.`);
  return [
    { url: `${parsed.origin}${parsed.pathname.replace(/\/$/, '')}`, label: textOf(server.description).trim().slice(0, 30) || parsed.host },
  ];
}

function methodsOf(document: Source): string[] {
  const items = Object.values(objectOf(document.paths)).map(objectOf);
  const used = METHODS.filter((method) => items.some((item) => Object.hasOwn(item, method.toLowerCase())));
  return used;
}

function injectionsOf(document: Source, title: string, { secrets, warnings }: Imported): Source {
  const headers: Record<string, string> = {};
  const query: Record<string, string> = {};
  for (const [key, one] of Object.entries(objectOf(objectOf(document.components).securitySchemes))) {
    const scheme = objectOf(one);
    const place = placeOf(scheme);
    const at = `components.securitySchemes.${key}`;
    if (typeof place === 'string') warnings.push(`${at}: ${place}`);
    else if (place.in === 'query') query[place.name] = referTo(secretNameOf(title, place.name), secrets);
    else if (Object.keys(headers).some((name) => name.toLowerCase() === place.name.toLowerCase()))
      warnings.push(`${at}: left out, because another scheme uses the header ${place.name}.`);
    else headers[place.name] = `${place.before}${referTo(secretNameOf(title, place.what), secrets)}`;
  }
  return {
    ...(Object.keys(headers).length > 0 ? { inject_headers_json: headers } : {}),
    ...(Object.keys(query).length > 0 ? { inject_query_json: query } : {}),
  };
}

type Place = { in: 'header' | 'query'; name: string; before: string; what: string };

/** Where a scheme's credential goes, or why it can't be carried over. */
function placeOf(scheme: Source): Place | string {
  const [type, name] = [textOf(scheme.type).toLowerCase(), textOf(scheme.name)];
  if (scheme.$ref !== undefined) return 'a reference; left out.';
  if (type === 'apikey' && scheme.in === 'query' && name !== '' && name.length <= 128) return { in: 'query', name, before: '', what: name };
  if (type === 'apikey' && scheme.in === 'header' && TOKEN.test(name)) return { in: 'header', name, before: '', what: name };
  if (type === 'http' && /^bearer$/i.test(textOf(scheme.scheme)))
    return { in: 'header', name: 'Authorization', before: 'Bearer ', what: 'token' };
  if (type === 'http' && /^basic$/i.test(textOf(scheme.scheme)))
    return { in: 'header', name: 'Authorization', before: 'Basic ', what: 'basic_auth' };
  if (type === 'apikey' && scheme.in === 'cookie') return 'cookies are not injected; left out.';
  if (type === 'oauth2' || type === 'openidconnect') return 'create a connection in the dashboard and inject its secret; left out.';
  return `the type ${type || 'unknown'} is not supported; left out.`;
}
