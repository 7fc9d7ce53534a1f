import type { Snippet } from '#components/ui/code-block.tsx';
import { curlOf, isVariable } from './curl.ts';
import { LANGUAGES } from './languages.ts';

export type ApiCall = {
  method: string;
  url: string;
  /** `$NAME` as the credential is read from the environment, so that none stands in the code. */
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, in place of `body`. */
  text?: string | undefined;
};

/** One call as a program of each language that runs as it stands: the status and the body are printed. */
export function codeOf(call: ApiCall): readonly [Snippet, ...Snippet[]] {
  const sent = { ...call, headers: { ...call.headers, ...(call.body === undefined ? {} : { 'Content-Type': 'application/json' }) } };
  const code = {
    curl: curlOf({ ...call, body: call.body as object | undefined }),
    node: node(sent),
    python: python(sent),
    go: go(sent),
    php: php(sent),
    ruby: ruby(sent),
  };
  const [first, ...others] = LANGUAGES;
  return [{ ...first, code: code[first.id] }, ...others.map((one) => ({ ...one, code: code[one.id] }))];
}

type Sent = ApiCall & { headers: Readonly<Record<string, string>> };
const json = (value: unknown) => JSON.stringify(value, null, 2);
const indented = (text: string, by: string) => text.replaceAll('\n', `\n${by}`);
const hasBody = (call: Sent) => call.body !== undefined || call.text !== undefined;
const lines = (call: Sent, one: (name: string, value: string) => string) => Object.entries(call.headers).map(([n, v]) => one(n, v));

const readsEnvironment = (call: Sent) => Object.entries(call.headers).some(([name, value]) => isVariable(name, value));

/** A header's value as an expression: a quoted text, or what stands before the variable and its look-up, joined. */
function expression(
  [name, value]: readonly [string, string],
  quote: (piece: string) => string,
  lookUp: (name: string) => string,
  joint: string,
): string {
  if (!isVariable(name, value)) return quote(value);
  const at = value.indexOf('$');
  return [...(at > 0 ? [quote(value.slice(0, at))] : []), lookUp(value.slice(at + 1))].join(joint);
}

function node(call: Sent): string {
  const value = (n: string, v: string) => expression([n, v], JSON.stringify, (name) => ['process', 'env', name].join('.'), ' + ');
  const options = [
    ...(call.method === 'GET' ? [] : [`  method: ${JSON.stringify(call.method)},`]),
    '  headers: {',
    ...lines(call, (n, v) => `    ${JSON.stringify(n)}: ${value(n, v)},`),
    '  },',
    ...(call.body === undefined ? [] : [`  body: JSON.stringify(${indented(json(call.body), '  ')}),`]),
    ...(call.text === undefined ? [] : [`  body: ${JSON.stringify(call.text)},`]),
  ];
  return `const response = await fetch(${JSON.stringify(call.url)}, {\n${options.join('\n')}\n});\nconsole.log(response.status, await response.text());`;
}

function python(call: Sent): string {
  const fromEnv = readsEnvironment(call);
  const value = (n: string, v: string) => expression([n, v], JSON.stringify, (name) => `os.environ[${JSON.stringify(name)}]`, ' + ');
  const imports = [...(call.body === undefined ? [] : ['json']), ...(fromEnv ? ['os'] : []), 'urllib.error', 'urllib.request'].join(', ');
  const options = [
    `    ${JSON.stringify(call.url)},`,
    `    method=${JSON.stringify(call.method)},`,
    '    headers={',
    ...lines(call, (n, v) => `        ${JSON.stringify(n)}: ${value(n, v)},`),
    '    },',
    ...(call.body === undefined ? [] : [`    data=json.dumps(${indented(pythonLiteral(call.body), '    ')}).encode(),`]),
    ...(call.text === undefined ? [] : [`    data=${JSON.stringify(call.text)}.encode(),`]),
  ];
  return `import ${imports}\n\nrequest = urllib.request.Request(\n${options.join('\n')}\n)\ntry:\n    response = urllib.request.urlopen(request)\nexcept urllib.error.HTTPError as refused:\n    response = refused\nprint(response.status, response.read().decode())`;
}

function pythonLiteral(value: unknown, by = ''): string {
  if (value === undefined || value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const members = Array.isArray(value)
    ? value.map((one) => pythonLiteral(one, `${by}    `))
    : Object.entries(value).flatMap(([key, one]) =>
        one === undefined ? [] : [`${JSON.stringify(key)}: ${pythonLiteral(one, `${by}    `)}`],
      );
  return members.length === 0 ? `${open}${close}` : `${open}\n${members.map((one) => `${by}    ${one},`).join('\n')}\n${by}${close}`;
}

function go(call: Sent): string {
  const fromEnv = readsEnvironment(call);
  const value = (n: string, v: string) => expression([n, v], JSON.stringify, (name) => `os.Getenv(${JSON.stringify(name)})`, ' + ');
  const body = hasBody(call) ? `strings.NewReader(${goText(call.text ?? json(call.body))})` : 'nil';
  const imports = ['fmt', 'io', 'net/http', ...(fromEnv ? ['os'] : []), ...(hasBody(call) ? ['strings'] : [])];
  return `package main

import (
${imports.map((name) => `\t"${name}"`).join('\n')}
)

func main() {
	request, err := http.NewRequest(${JSON.stringify(call.method)}, ${JSON.stringify(call.url)}, ${body})
	if err != nil {
		panic(err)
	}
${lines(call, (n, v) => `\trequest.Header.Set(${JSON.stringify(n)}, ${value(n, v)})`).join('\n')}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(response.StatusCode, string(answer))
}`;
}

/** A raw string holds everything but its own quote and a carriage return. */
const goText = (text: string) => (/[`\r]/.test(text) ? JSON.stringify(text) : `\`${text}\``);

function php(call: Sent): string {
  const value = (n: string, v: string) =>
    isVariable(n, v)
      ? `${single(`${n}: `)} . ${expression([n, v], single, (name) => `getenv(${single(name)})`, ' . ')}`
      : single(`${n}: ${v}`);
  return `<?php
$call = curl_init(${single(call.url)});
curl_setopt_array($call, [
    CURLOPT_CUSTOMREQUEST => ${single(call.method)},
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => [
${lines(call, (n, v) => `        ${value(n, v)},`).join('\n')}
    ],${call.text === undefined ? '' : `\n    CURLOPT_POSTFIELDS => ${single(call.text)},`}${call.body === undefined ? '' : `\n    CURLOPT_POSTFIELDS => <<<'JSON'\n    ${indented(json(call.body), '    ')}\n    JSON,`}
]);
$answer = curl_exec($call);
if ($answer === false) {
    exit(curl_error($call) . PHP_EOL);
}
echo curl_getinfo($call, CURLINFO_RESPONSE_CODE), ' ', $answer, PHP_EOL;`;
}

function ruby(call: Sent): string {
  const value = (n: string, v: string) => expression([n, v], single, (name) => `ENV.fetch(${single(name)})`, ' + ');
  const made = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(call.method)
    ? `${call.method[0]}${call.method.slice(1).toLowerCase()}.new(uri)`
    : `GenericRequest.new(${single(call.method)}, ${hasBody(call)}, true, uri)`;
  return `require 'net/http'

uri = URI(${single(call.url)})
request = Net::HTTP${made.startsWith('Generic') ? '' : '::'}${made}
${lines(call, (n, v) => `request[${single(n)}] = ${value(n, v)}`).join('\n')}${call.body === undefined ? '' : `\nrequest.body = <<~'JSON'\n  ${indented(json(call.body), '  ')}\nJSON`}${call.text === undefined ? '' : `\nrequest.body = ${single(call.text)}`}
response = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == 'https') { |http| http.request(request) }
puts "#{response.code} #{response.body}"`;
}

/** Single quotes of PHP and Ruby know two escapes and read nothing into the rest. */
const single = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
