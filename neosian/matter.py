def read(header):
    return {}, ""
