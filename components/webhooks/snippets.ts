import type { Snippet } from '#components/ui/code-block.tsx';
import type { HmacFormat } from '#server/domain/webhooks/options.shared.ts';

/** How each language writes what a format signs and expects; `t` is the signed time where there is one. */
type Shape = { timed: 'stripe' | 'slack' | null; base64: boolean; prefix: string };
const shapeOf = (format: HmacFormat): Shape => ({
  timed: format === 'stripe' || format === 'slack' ? format : null,
  base64: format === 'aws-sns',
  prefix: format === 'slack' ? 'v0=' : format === 'stripe' || format === 'aws-sns' ? '' : 'sha256=',
});

/** Code that verifies the raw body of a request in five languages: constant time, and fresh within 300 seconds. */
export function snippetsOf(format: HmacFormat, header: string): [Snippet, ...Snippet[]] {
  if (format === 'standard-webhooks') return LIBRARIES;
  const shape = shapeOf(format);
  return [
    { id: 'node', label: 'Node.js', language: 'javascript', code: node(shape, header) },
    { id: 'python', label: 'Python', language: 'python', code: python(shape, header) },
    { id: 'go', label: 'Go', language: 'javascript', code: go(shape, header) },
    { id: 'ruby', label: 'Ruby', language: 'python', code: ruby(shape, header) },
    { id: 'php', label: 'PHP', language: 'javascript', code: php(shape, header) },
  ];
}

const node = ({ timed, base64, prefix }: Shape, header: string) => `import { createHmac, timingSafeEqual } from 'node:crypto';

// raw: the bytes of the body as they arrived, before any parser
export function verify(raw, headers, secret) {
${
  timed === 'stripe'
    ? `  const parts = headers['${header.toLowerCase()}'].split(',').map((part) => part.split('='));
  const t = Number(parts.find(([name]) => name === 't')?.[1]);
  const given = parts.filter(([name]) => name === 'v1').map(([, value]) => value);
  const signed = \`\${t}.\${raw}\`;`
    : timed === 'slack'
      ? `  const t = Number(headers['x-slack-request-timestamp']);
  const given = [headers['${header.toLowerCase()}']];
  const signed = \`v0:\${t}:\${raw}\`;`
      : `  const t = Date.parse(JSON.parse(raw).timestamp) / 1000;
  const given = [headers['${header.toLowerCase()}']];
  const signed = raw;`
}
  if (!(Math.abs(Date.now() / 1000 - t) <= 300)) return false;
  const expected = Buffer.from('${prefix}' + createHmac('sha256', secret).update(signed).digest('${base64 ? 'base64' : 'hex'}'));
  return given.some((one) => {
    const value = Buffer.from(one ?? '');
    return value.length === expected.length && timingSafeEqual(value, expected);
  });
}`;

const python = ({ timed, base64, prefix }: Shape, header: string) => `import base64, hashlib, hmac, json, time
from datetime import datetime

# raw: the bytes of the body as they arrived
def verify(raw, headers, secret):
${
  timed === 'stripe'
    ? `    parts = [part.split("=", 1) for part in headers["${header}"].split(",")]
    t = float(dict(parts)["t"])
    given = [value for name, value in parts if name == "v1"]
    signed = f"{int(t)}.".encode() + raw`
    : timed === 'slack'
      ? `    t = float(headers["X-Slack-Request-Timestamp"])
    given = [headers["${header}"]]
    signed = f"v0:{int(t)}:".encode() + raw`
      : `    t = datetime.fromisoformat(json.loads(raw)["timestamp"]).timestamp()
    given = [headers["${header}"]]
    signed = raw`
}
    if abs(time.time() - t) > 300:
        return False
    mac = hmac.new(secret.encode(), signed, hashlib.sha256)
    expected = ${base64 ? 'base64.b64encode(mac.digest()).decode()' : `"${prefix}" + mac.hexdigest()`}
    return any(hmac.compare_digest(one, expected) for one in given)`;

const go = ({ timed, base64, prefix }: Shape, header: string) => `// raw: the bytes of the body as they arrived
func verify(raw []byte, h http.Header, secret string) bool {
${
  timed === 'stripe'
    ? `	var t string
	var given []string
	for _, part := range strings.Split(h.Get("${header}"), ",") {
		name, value, _ := strings.Cut(part, "=")
		if name == "t" { t = value } else if name == "v1" { given = append(given, value) }
	}
	signed := append([]byte(t+"."), raw...)
	seconds, err := strconv.ParseInt(t, 10, 64)`
    : timed === 'slack'
      ? `	t := h.Get("X-Slack-Request-Timestamp")
	given := []string{h.Get("${header}")}
	signed := append([]byte("v0:"+t+":"), raw...)
	seconds, err := strconv.ParseInt(t, 10, 64)`
      : `	var envelope struct{ Timestamp time.Time }
	err := json.Unmarshal(raw, &envelope)
	seconds := envelope.Timestamp.Unix()
	given := []string{h.Get("${header}")}
	signed := raw`
}
	if age := time.Now().Unix() - seconds; err != nil || age > 300 || age < -300 { return false }
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(signed)
	expected := ${base64 ? 'base64.StdEncoding.EncodeToString(mac.Sum(nil))' : `"${prefix}" + hex.EncodeToString(mac.Sum(nil))`}
	for _, one := range given {
		if hmac.Equal([]byte(one), []byte(expected)) { return true }
	}
	return false
}`;

const ruby = ({ timed, base64, prefix }: Shape, header: string) => `require "json"
require "openssl"
require "time"

# raw: the body as it arrived
def verify(raw, headers, secret)
${
  timed === 'stripe'
    ? `  parts = headers["${header}"].split(",").map { |part| part.split("=", 2) }
  t = Integer(parts.assoc("t")[1])
  given = parts.select { |name, _| name == "v1" }.map(&:last)
  signed = "#{t}.#{raw}"`
    : timed === 'slack'
      ? `  t = Integer(headers["X-Slack-Request-Timestamp"])
  given = [headers["${header}"]]
  signed = "v0:#{t}:#{raw}"`
      : `  t = Time.iso8601(JSON.parse(raw)["timestamp"]).to_i
  given = [headers["${header}"]]
  signed = raw`
}
  return false if (Time.now.to_i - t).abs > 300
  expected = ${base64 ? 'OpenSSL::HMAC.base64digest("SHA256", secret, signed)' : `"${prefix}" + OpenSSL::HMAC.hexdigest("SHA256", secret, signed)`}
  given.any? { |one| OpenSSL.secure_compare(one, expected) }
end`;

const php = (
  { timed, base64, prefix }: Shape,
  header: string,
) => `// $raw = file_get_contents('php://input'); $headers with lower-case names
function verify(string $raw, array $headers, string $secret): bool {
${
  timed === 'stripe'
    ? `  preg_match('/t=(\\d+)/', $headers['${header.toLowerCase()}'], $m);
  preg_match_all('/v1=([0-9a-f]+)/', $headers['${header.toLowerCase()}'], $v);
  [$t, $given, $signed] = [(int) ($m[1] ?? 0), $v[1], ($m[1] ?? '') . '.' . $raw];`
    : timed === 'slack'
      ? `  $t = (int) $headers['x-slack-request-timestamp'];
  [$given, $signed] = [[$headers['${header.toLowerCase()}']], "v0:$t:$raw"];`
      : `  $t = strtotime(json_decode($raw)->timestamp);
  [$given, $signed] = [[$headers['${header.toLowerCase()}']], $raw];`
}
  if (abs(time() - $t) > 300) return false;
  $expected = ${base64 ? "base64_encode(hash_hmac('sha256', $signed, $secret, true))" : `'${prefix}' . hash_hmac('sha256', $signed, $secret)`};
  foreach ($given as $one) if (hash_equals($expected, $one)) return true;
  return false;
}`;

/** Standard Webhooks has a library for each; Svix's do the same. */
const LIBRARIES: [Snippet, ...Snippet[]] = [
  {
    id: 'node',
    label: 'Node.js',
    language: 'javascript',
    code: `import { Webhook } from 'standardwebhooks';

// raw: the body as it arrived; throws when it doesn't verify
export const verify = (raw, headers, secret) => new Webhook(secret).verify(raw, headers);`,
  },
  {
    id: 'python',
    label: 'Python',
    language: 'python',
    code: `from standardwebhooks.webhooks import Webhook

# raw: the body as it arrived; raises when it doesn't verify
def verify(raw, headers, secret):
    return Webhook(secret).verify(raw, headers)`,
  },
  {
    id: 'go',
    label: 'Go',
    language: 'javascript',
    code: `// import standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
func verify(raw []byte, h http.Header, secret string) error {
	wh, err := standardwebhooks.NewWebhook(secret)
	if err != nil { return err }
	return wh.Verify(raw, h)
}`,
  },
  {
    id: 'ruby',
    label: 'Ruby',
    language: 'python',
    code: `require "standardwebhooks"

# raw: the body as it arrived; raises when it doesn't verify
def verify(raw, headers, secret)
  StandardWebhooks::Webhook.new(secret).verify(raw, headers)
end`,
  },
  {
    id: 'php',
    label: 'PHP',
    language: 'javascript',
    code: `// composer require standard-webhooks/standard-webhooks; throws when it doesn't verify
function verify(string $raw, array $headers, string $secret): mixed {
  return (new \\StandardWebhooks\\Webhook($secret))->verify($raw, $headers);
}`,
  },
];
