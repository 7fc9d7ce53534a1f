// Uploads (multipart/form-data): the field `model` is read and replaced where it stands, and the other fields are read for whoever judges them.

export const LONGEST_HEAD = 500;
const LONGEST_NAME = 200;
/** Other spellings of the field's name, which some reader could take for it. */
const OTHER_SPELLINGS = ['name=model', "name='model'", 'name*=', 'name ='];

type Place = { at: number; model: string };

/** Where the model stands; undefined when there is none, or so that two readers could see two. */
function placeOf(body: Buffer): Place | undefined {
  const text = body.toString('latin1');
  const lower = text.toLowerCase();
  const name = lower.indexOf('name="model"');
  if (name < 0 || lower.includes('name="model"', name + 1) || OTHER_SPELLINGS.some((other) => lower.includes(other))) return undefined;
  const head = text.indexOf('\r\n\r\n', name);
  if (head < 0 || head - name > LONGEST_HEAD) return undefined;
  const at = head + 4;
  const end = text.indexOf('\r\n', at);
  return end <= at || end - at > LONGEST_NAME || text.slice(end + 2, end + 4) !== '--' ? undefined : { at, model: text.slice(at, end) };
}

/** The model of an upload; undefined when it names none, or names it ambiguously. */
export const uploadModel = (body: Buffer | null): string | undefined => (body === null ? undefined : placeOf(body)?.model);

/** The upload with another model. */
export function withUploadModel(body: Buffer, model: string): Buffer {
  const place = placeOf(body);
  if (!place) return body;
  return Buffer.concat([body.subarray(0, place.at), Buffer.from(model), body.subarray(place.at + place.model.length)]);
}

/** Whether some part of the upload may be taken for its model. */
export function mayNameModel(body: Buffer): boolean {
  const lower = body.toString('latin1').toLowerCase();
  return ['name="model"', ...OTHER_SPELLINGS].some((spelling) => lower.includes(spelling));
}

/** The texts of the fields, one below the other; parts with a file name are left out. Undefined when two readers could find different parts. */
export function uploadText(body: Buffer, contentType: string): string | undefined {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) return undefined;
  const texts = body
    .toString('utf8')
    .split(`--${boundary}`)
    .slice(1)
    .flatMap((part) => {
      const end = part.indexOf('\r\n\r\n');
      return isFile(part.slice(0, Math.max(0, end))) ? [] : [end < 0 ? part : part.slice(end + 4)];
    });
  return texts.join('\n');
}

/** Undefined where two readers could find two. */
export function boundaryOf(contentType: string): string | undefined {
  const [named, second] = [...contentType.matchAll(/boundary=(?:"([^"\\]{1,70})"|([^\s;"]{1,70}))/gi)];
  return second === undefined ? (named?.[1] ?? named?.[2]) : undefined;
}

/** As clients write it; whatever else a head says, the part is read. */
export const isFile = (head: string): boolean => {
  const [disposition = '', second] = head.split('\r\n').filter((line) => line.toLowerCase().startsWith('content-disposition'));
  return second === undefined && /^content-disposition: form-data; name="[^"]*"; filename="[^"]+"$/i.test(disposition);
};
