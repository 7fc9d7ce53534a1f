/** What other families and planes may use of the team. */
export { viewInvitation } from './joining.ts';
export { assertFreeSeat, seatsTaken } from './seats.ts';
export { lockMembers } from './store.ts';
