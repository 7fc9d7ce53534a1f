/** What other families and planes may use of the team. */
export { viewInvitation } from './joining.ts';
export { endMembership, leaveSpace } from './removal.ts';
export { assertFreeSeat, seatsTaken } from './seats.ts';
export { lockMembers, memberById } from './store.ts';
