// The dashboard's view of sign-in: pages, tRPC and /admin ask here who is calling.
export { personOf, type SignedInPerson } from '#server/auth/person.ts';
