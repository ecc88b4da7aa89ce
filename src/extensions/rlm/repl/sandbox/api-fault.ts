// Owns what the code inside is told when it asks wrongly: it is thrown there as an error of that name. Never a fault of ours.

export type FaultName = 'TypeError' | 'RangeError' | 'Error' | 'SubCallLimit';

export class ApiFault extends Error {
  override readonly name: FaultName;

  constructor(name: FaultName, message: string) {
    super(message);
    this.name = name;
  }
}
