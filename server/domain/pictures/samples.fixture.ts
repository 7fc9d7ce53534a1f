export const samples = {};

export const testedElsewhere = {
  'auth.avatars.upload': 'takes a picture and no JSON: pictures.test.ts',
  'auth.avatars.get': 'answers with a picture: pictures.test.ts',
};
