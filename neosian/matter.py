def read(header): return {}, ""
