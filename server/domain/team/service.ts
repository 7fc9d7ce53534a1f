/** What other families and planes may use of the team. */
export { updateMember } from './changes.ts';
export { viewInvitation } from './joining.ts';
export { mailOwnersOfMade } from './mails.ts';
export { endMembership, leaveSpace } from './removal.ts';
export { assertFreeSeat, seatsTaken } from './seats.ts';
export { lockMembers, memberById } from './store.ts';
