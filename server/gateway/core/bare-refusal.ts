/** Body and head of a refusal that no plane writes: the envelope alone (interface rule 01 §6). */
export function bareRefusal(type: string, message: string, requestId: string): { text: string; headers: Record<string, string> } {
  const text = JSON.stringify({ error: { type, message, request_id: requestId } });
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
  };
  return { text, headers };
}
