import { edgeOf } from '#server/api/edge.ts';
import { viewInvitation } from '#server/domain/team/service.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { callerOf } from './handle.ts';
import { personOf } from './person.ts';

/** What the page of a mailed invitation shows: the invitation, or why it can't be shown, and who is signed in. */
export async function invitationPage(headers: Headers, token: string) {
  const person = await personOf(headers);
  const signed_in = person && { email: person.user.email, csrf: person.session.csrf_token };
  try {
    return { signed_in, invitation: await viewInvitation(callerOf(headers, edgeOf(headers)), { token }) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { signed_in, problem: error.type === 'rate_limited' ? error.message : null };
  }
}
