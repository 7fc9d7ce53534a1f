type Json = Record<string, unknown>;

/**
 * What an import reads of an OpenAPI description in JSON, without the prose and the models, which make up most of the megabytes that large APIs publish:
 * title, servers, security, and the operations with their summaries. Undefined when the text is no JSON object.
 */
export function outlineOf(text: string): string | undefined {
  const document = parsed(text);
  if (!document) return undefined;
  const { openapi, swagger, info, servers, security, paths, components } = document;
  const { securitySchemes, pathItems } = object(components);
  return JSON.stringify({
    openapi,
    swagger,
    info: { title: object(info).title },
    servers,
    security,
    components: { securitySchemes, pathItems: items(pathItems) },
    paths: items(paths),
  });
}

function parsed(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** The reference of each path to another one, and the summary and security of each method. */
const items = (paths: unknown) =>
  Object.fromEntries(
    Object.entries(object(paths)).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(object(item)).flatMap(([key, operation]): [string, unknown][] =>
          key === '$ref'
            ? [[key, operation]]
            : METHOD.test(key)
              ? [[key, { summary: object(operation).summary, security: object(operation).security }]]
              : [],
        ),
      ),
    ]),
  );

const METHOD = /^(?:get|put|post|delete|options|head|patch)$/;
const object = (value: unknown): Json => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {});
